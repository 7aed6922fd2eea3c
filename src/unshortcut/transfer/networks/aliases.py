"""State dicts in which a tensor that several modules share has one name."""

from typing import Any

from torch import Tensor, nn


def name_once(module: nn.Module) -> None:
    """Leave the later names of shared tensors out of the state dict of a module.

    An encoder that is also the trunk of a detector would be saved twice, which safetensors refuses.
    Loading takes the same state dict.
    """
    state = module.state_dict(keep_vars=True)
    first: dict[int, str] = {}
    later: dict[str, str] = {}
    for name, tensor in state.items():
        known = first.setdefault(id(tensor), name)
        if known != name:
            later[name] = known

    def leave_out(own: nn.Module, found: dict[str, Tensor], prefix: str, metadata: Any) -> None:
        for name in later:
            found.pop(prefix + name, None)

    def put_back(own: nn.Module, given: dict[str, Tensor], prefix: str, *others: Any) -> None:
        for name, known in later.items():
            if prefix + known in given:
                given.setdefault(prefix + name, given[prefix + known])

    module.register_state_dict_post_hook(leave_out)
    module.register_load_state_dict_pre_hook(put_back)
