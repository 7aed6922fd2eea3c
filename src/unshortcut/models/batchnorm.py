"""Batch norm that does not reveal which key belongs to which query.

Batch statistics are a signature by which a network can find the positive without looking at the
image (He et al., MoCo, section 3.3). Queries are therefore normalized in groups, and keys are
shuffled so that a key shares its group with as few members of its query's group as possible.

The number of groups counts over all devices. MoCo on G GPUs has G groups, each the part of the
batch on one GPU; here W devices that divide G have them too, G / W each, with the same images.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.modules.batchnorm import _BatchNorm

from unshortcut.distributed import gather, own_part, world_size

_STATISTICS = ("running_mean", "running_var", "num_batches_tracked")


class SplitBatchNorm(_BatchNorm):
    """Batch norm over `groups` contiguous parts of the batch, each with its own statistics.

    The batch is that of one forward pass on all ranks, of which each rank normalizes
    `groups` / ranks parts; with accumulated batches, every one of them has all groups.

    It shares parameters and running statistics with the batch norm that it replaces, and is equal
    to it in eval mode. Running statistics are updated once for each group on this rank. Ranks do
    not exchange them: those that are saved and exported are of the first rank, as in MoCo, so they
    follow the first G / W groups of G on W ranks. An activation that timm fuses into some of its
    batch norms (`BatchNormAct2d`) is kept.
    """

    def __init__(self, replaced: _BatchNorm, groups: int) -> None:
        super().__init__(replaced.num_features, replaced.eps, replaced.momentum)
        self.affine, self.track_running_stats = replaced.affine, replaced.track_running_stats
        self.weight, self.bias = replaced.weight, replaced.bias
        self.running_mean, self.running_var = replaced.running_mean, replaced.running_var
        self.num_batches_tracked = replaced.num_batches_tracked
        self.act = getattr(replaced, "act", nn.Identity())
        self.groups = groups

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (2, 4):
            raise ValueError(f"expected a 2-D or 4-D input, got {input.dim()}-D")

    def forward(self, input: Tensor) -> Tensor:
        activated: Tensor = self.act(self._normalized(input))
        return activated

    def _normalized(self, input: Tensor) -> Tensor:
        # The ranks are known only now: a method is built before its processes find each other.
        # A group of one image has no variance, so a small batch has fewer groups.
        groups = min(self.groups // world_size(), len(input) // 2)
        if not self.training or groups < 2:
            return super().forward(input)
        state = self.running_mean, self.running_var, self.weight, self.bias
        momentum = 0.1 if self.momentum is None else self.momentum
        # `tensor_split` would make a gradient of the size of the input for each part.
        parts = input.split(_sizes(len(input), groups))
        normalized = [F.batch_norm(part, *state, True, momentum, self.eps) for part in parts]
        if self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
        return torch.cat(normalized)


def split_batch_norm(network: nn.Module, groups: int) -> nn.Module:
    """Replace every batch norm of a network by one over groups; state-dict keys stay the same.

    groups: their number over all ranks.
    """
    for name, child in network.named_children():
        if isinstance(child, _BatchNorm) and not isinstance(child, nn.SyncBatchNorm):
            network.register_module(name, SplitBatchNorm(child, groups))
        else:
            split_batch_norm(child, groups)
    return network


def shuffle_order(count: int, groups: int, generator: torch.Generator) -> Tensor:
    """A random permutation (count,) that spreads every contiguous group evenly over all groups.

    Row p of the shuffled batch is row `order[p]` of the batch. If there are at least as many groups
    as a group has members, two rows of one group are never in the same group again.
    """
    parts = torch.arange(count).split(_sizes(count, groups))
    shuffled = torch.cat([part[torch.randperm(len(part), generator=generator)] for part in parts])
    return torch.cat([shuffled[start::groups] for start in range(groups)])


def _sizes(count: int, groups: int) -> list[int]:
    """Sizes of `groups` contiguous parts of `count` rows, as even as possible."""
    size, larger = divmod(count, groups)
    return [size + (number < larger) for number in range(groups)]


class KeyShuffle:
    """Shuffles the keys of all ranks before they are encoded, and restores the order after."""

    def __init__(self, count: int, groups: int, generator: torch.Generator) -> None:
        """Each rank has `count` rows and the same generator; all together have `groups`.

        The order depends on the number of rows and groups, not on how many ranks share them. With
        fewer groups than ranks, every rank is a group.
        """
        world = world_size()
        self.order = shuffle_order(count * world, max(groups, world), generator)
        self.inverse = torch.argsort(self.order)

    def shuffle(self, images: Tensor) -> Tensor:
        """Exchange the images (N, ...) of this rank for the (N, ...) that it is to encode."""
        return gather(images)[own_part(self.order).to(images.device)]

    def restore(self, embeddings: Tensor) -> Tensor:
        """Exchange embeddings (N, D) in shuffled order for those of this rank's own images."""
        return gather(embeddings)[own_part(self.inverse).to(embeddings.device)]


@contextmanager
def running_statistics_kept(network: nn.Module) -> Iterator[None]:
    """Normalize by batch statistics in train mode without updating the running statistics.

    Batch norms update clones in the meantime. A momentum of 0 would keep finite statistics only
    (0 · ∞ is not a number), `SyncBatchNorm` insists on a count of batches, and without statistics
    autograd saves other tensors, so that activation checkpointing could not recompute a pass.
    """
    norms = [module for module in network.modules() if isinstance(module, _BatchNorm)]
    kept = [[getattr(norm, name) for name in _STATISTICS] for norm in norms]
    for norm, statistics in zip(norms, kept, strict=True):
        for name, tensor in zip(_STATISTICS, statistics, strict=True):
            setattr(norm, name, None if tensor is None else tensor.clone())
    try:
        yield
    finally:
        for norm, statistics in zip(norms, kept, strict=True):
            for name, tensor in zip(_STATISTICS, statistics, strict=True):
                setattr(norm, name, tensor)
