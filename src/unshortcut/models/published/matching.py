"""Find a network among the tensors of a file: under which prefix, and what does not fit."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor, nn

_SHOWN = 3
"""Number of names that an error gives of each kind."""
_COUNTER = "num_batches_tracked"
"""A buffer of batch norm that is not used in eval mode and that old files do not have."""


@dataclass(frozen=True)
class Match:
    """A network in a file."""

    prefix: str
    """What precedes the names of the network, e.g. `state_dict.module.encoder_q.`."""
    names: dict[str, str]
    """The name of each of the network's tensors in the file, without the prefix."""
    count: int
    """Number of tensors with the right name and shape, without counters."""

    def state(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The state dict of the network."""
        found = {own: tensors.get(self.prefix + name) for own, name in self.names.items()}
        return {own: tensor for own, tensor in found.items() if tensor is not None}


def find_matches(tensors: Mapping[str, Tensor], network: nn.Module) -> list[Match]:
    """All prefixes under which the most tensors of a network fit, the preferred one first."""
    wanted = network.state_dict()
    matches = []
    for names in (_as_named(network), _as_sequence(network)):
        own = {name: key for key, name in names.items() if not key.endswith(_COUNTER)}
        counts: Counter[str] = Counter()
        for full, tensor in tensors.items():
            for start in (0, *(dot.end() for dot in re.finditer(r"\.", full))):
                key = own.get(full[start:])
                if key is not None and wanted[key].shape == tensor.shape:
                    counts[full[:start]] += 1
        matches += [Match(prefix, names, count) for prefix, count in counts.items()]
    most = max((match.count for match in matches), default=0)
    best = [match for match in matches if match.count == most]
    return sorted(best, key=lambda match: _preference(match.prefix))


def misfits(
    match: Match, tensors: Mapping[str, Tensor], network: nn.Module, classifier: str
) -> str:
    """What is missing, of another shape, or left over, as a sentence; empty if all fits.

    What is in the place of the classifier, which the network does not have, is not left over.
    """
    wanted, found = network.state_dict(), match.state(tensors)
    missing = [k for k in wanted if k not in found and not k.endswith(_COUNTER)]
    reshaped = [
        f"{key}: {tuple(found[key].shape)} instead of {tuple(wanted[key].shape)}"
        for key in found
        if found[key].shape != wanted[key].shape
    ]
    deeper = _left_over(match, tensors, network)
    left_over = [name for name in deeper if not name.startswith(f"{classifier}.")]
    said = [
        _listed(missing, "is missing", "are missing"),
        _listed(reshaped, "has another shape", "have another shape"),
        _listed(left_over, "is left over", "are left over"),
    ]
    return "; ".join(part for part in said if part)


def _left_over(match: Match, tensors: Mapping[str, Tensor], network: nn.Module) -> list[str]:
    """Tensors that belong to a deeper network: ResNet-50's names are some of ResNet-101's."""
    known = set(match.names.values())
    filled = {name for name, one in network.named_children() if any(True for _ in one.parameters())}
    parts = {
        name.partition(".")[0]
        for key, name in match.names.items()
        if key.partition(".")[0] in filled
    }
    under = [name.removeprefix(match.prefix) for name in tensors if name.startswith(match.prefix)]
    return [name for name in under if name.partition(".")[0] in parts and name not in known]


def _as_named(network: nn.Module) -> dict[str, str]:
    return {name: name for name in network.state_dict()}


def _as_sequence(network: nn.Module) -> dict[str, str]:
    """Names in `nn.Sequential(*network.children())`, the backbone of lightly's examples."""
    index = {name: str(number) for number, (name, _) in enumerate(network.named_children())}
    return {
        name: ".".join([index[head], rest])
        for name in network.state_dict()
        for head, _, rest in [name.partition(".")]
        if head in index
    }


def _preference(prefix: str) -> int:
    """The order of several encoders in a file, by what papers evaluate.

    The teacher of DINO and averaged weights are; of MoCo, BYOL and others, the encoder that is
    trained is, not the one that follows it.
    """
    words = set(re.split(r"[._]", prefix.lower()))
    if words & {"teacher", "ema"}:
        return 0
    if words & {"online", "q", "query"}:
        return 1
    return 3 if words & {"momentum", "target", "k", "key", "student"} else 2


def _listed(names: Sequence[str], one: str, many: str) -> str:
    """`3 are missing (a, b, …)`."""
    if not names:
        return ""
    shown = [*names[:_SHOWN], *(["…"] if len(names) > _SHOWN else [])]
    return f"{len(names)} {one if len(names) == 1 else many} ({', '.join(shown)})"
