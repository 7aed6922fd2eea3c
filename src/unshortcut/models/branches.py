"""A network with several copies of its last stage on a shared trunk (LooC++, section 4)."""

from collections.abc import Iterator, Sequence
from copy import copy

import torch
from timm.models import checkpoint_seq
from timm.models.vision_transformer import VisionTransformer
from torch import Tensor, nn

from unshortcut.errors import UsageError

VIT_SHARE = 4
"""A branch of a ViT is the last quarter of its blocks, as it is the last of a ResNet's stages."""


class Branched(nn.Module):
    """A trunk, and on it the last stages of several networks as branches.

    The trunk is that of the first network; the features are the pooled outputs of the branches,
    concatenated. In a ResNet a branch is the last stage (Conv5), in a ViT the last quarter of the
    blocks and the norm after them. Layers after pooling are shared.
    """

    def __init__(self, networks: Sequence[nn.Module], name: str) -> None:
        super().__init__()
        self.trunk = networks[0]
        self.num_features: int = sum(getattr(one, "num_features") for one in networks)  # noqa: B009
        self.branches = nn.ModuleList(_cut_off(network, name) for network in networks)
        self.grad_checkpointing = False

    def forward(self, images: Tensor) -> Tensor:
        """(N, 3, H, W) to (N, branches · C)."""
        shared = self.trunk.forward_features(images)  # type: ignore[operator]
        outputs = (self._run(branch, shared) for branch in self.branches)
        pooled = [self.trunk.forward_head(output) for output in outputs]  # type: ignore[operator]
        return torch.cat(pooled, dim=1)

    def forward_features(self, images: Tensor) -> Tensor:
        """Before pooling: (N, branches · C, h, w), or (N, tokens, branches · C) for a ViT."""
        shared = self.trunk.forward_features(images)  # type: ignore[operator]
        maps = [self._run(branch, shared) for branch in self.branches]
        return torch.cat(maps, dim=1 if maps[0].dim() == 4 else -1)

    def set_grad_checkpointing(self, enable: bool = True) -> None:
        """Whether trunk and branches compute activations again in the backward pass, as in timm."""
        self.trunk.set_grad_checkpointing(enable)  # type: ignore[operator]
        self.grad_checkpointing = enable

    def _run(self, branch: nn.Module, shared: Tensor) -> Tensor:
        output: Tensor
        if self.grad_checkpointing:
            output = checkpoint_seq(list(_blocks(branch)), shared)
        else:
            output = branch(shared)
        return output


def branch_state(state: dict[str, Tensor], kept: Sequence[int], network: nn.Module) -> None:
    """Load the trunk and some branches of a `Branched`; a plain network takes one branch."""
    if not isinstance(network, Branched):
        # A shallow copy that is cut in the same way shows which tensor belongs where.
        shared = copy(network)
        shared._modules = dict(network._modules)
        network = Branched([shared], type(network).__name__)
    parts = {"trunk.": network.trunk}
    parts |= {f"branches.{i}.": one for i, one in zip(kept, network.branches, strict=True)}
    for prefix, part in parts.items():
        own = {name: tensor for name, tensor in state.items() if name.startswith(prefix)}
        part.load_state_dict({name.removeprefix(prefix): own[name] for name in own})


class _NoStage(nn.Identity):
    """In the place of a stage; for timm, which iterates over blocks, it has none."""

    def __iter__(self) -> Iterator[nn.Module]:
        return iter(())


def _blocks(branch: nn.Module) -> Iterator[nn.Module]:
    """The blocks of a branch in order, and the norm after those of a ViT."""
    for part in branch.children():
        yield from part if isinstance(part, nn.Sequential) else (part,)


def _cut_off(network: nn.Module, name: str) -> nn.Module:
    """Take the last stage out of a network, which has an identity in its place afterwards."""
    stage = getattr(network, "layer4", None)
    if isinstance(stage, nn.Module):
        network.layer4 = _NoStage()
        return stage
    if isinstance(network, VisionTransformer):
        blocks, norm = network.blocks, network.norm
        count = max(1, len(blocks) // VIT_SHARE)
        network.blocks, network.norm = blocks[:-count], nn.Identity()
        return nn.Sequential(blocks[-count:], norm)
    raise UsageError(f"encoder.branches is for ResNets and ViTs, not for '{name}'")
