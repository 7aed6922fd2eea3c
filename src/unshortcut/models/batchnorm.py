"""Batch norm that does not leak which key belongs to which query.

In one batch, statistics are a signature: a network can find the positive by them alone (He et
al., MoCo, section 3.3). So queries are normalized in groups, and keys are shuffled so that the
group of a key holds as few companions of its own query as can be.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.modules.batchnorm import _BatchNorm

from unshortcut.distributed import gather, own_part, world_size


class SplitBatchNorm(_BatchNorm):
    """Batch norm over `groups` contiguous parts of the batch, each with statistics of its own.

    Shares its parameters and running statistics with the batch norm that it replaces; in eval
    mode it is that batch norm. Running statistics take a step for each group.
    """

    def __init__(self, replaced: _BatchNorm, groups: int) -> None:
        super().__init__(
            replaced.num_features,
            replaced.eps,
            replaced.momentum,
            replaced.affine,
            replaced.track_running_stats,
        )
        self.weight, self.bias = replaced.weight, replaced.bias
        self.running_mean, self.running_var = replaced.running_mean, replaced.running_var
        self.num_batches_tracked = replaced.num_batches_tracked
        self.groups = groups

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (2, 4):
            raise ValueError(f"expected a 2-D or 4-D input, got {input.dim()}-D")

    def forward(self, input: Tensor) -> Tensor:
        # Groups of one would have no variance, so small batches make fewer groups.
        groups = min(self.groups, len(input) // 2)
        if not self.training or groups < 2:
            return super().forward(input)
        normalized = [
            F.batch_norm(
                part,
                self.running_mean,
                self.running_var,
                self.weight,
                self.bias,
                training=True,
                momentum=0.1 if self.momentum is None else self.momentum,
                eps=self.eps,
            )
            # not `tensor_split`: the gradient of each of its parts is as large as the input
            for part in input.split(_sizes(len(input), groups))
        ]
        if self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
        return torch.cat(normalized)


def split_batch_norm(network: nn.Module, groups: int) -> nn.Module:
    """Replace every batch norm of a network by one over groups; state-dict names stay."""
    for name, child in network.named_children():
        if isinstance(child, _BatchNorm) and not isinstance(child, nn.SyncBatchNorm):
            split = _split_keeping_activation(child, groups)
            network.register_module(name, split)
        else:
            split_batch_norm(child, groups)
    return network


def _split_keeping_activation(norm: _BatchNorm, groups: int) -> nn.Module:
    """timm fuses an activation into some of its batch norms (`BatchNormAct2d`): keep it."""
    split = SplitBatchNorm(norm, groups)
    activation = getattr(norm, "act", None)
    if activation is None or isinstance(activation, nn.Identity):
        return split
    return _SplitBatchNormAct(norm, groups, activation)


class _SplitBatchNormAct(SplitBatchNorm):
    def __init__(self, replaced: _BatchNorm, groups: int, activation: nn.Module) -> None:
        super().__init__(replaced, groups)
        self.act = activation

    def forward(self, input: Tensor) -> Tensor:
        activated: Tensor = self.act(super().forward(input))
        return activated


def shuffled_order(count: int, groups: int, generator: torch.Generator) -> Tensor:
    """A random permutation (count,) that spreads every contiguous group evenly over all groups.

    Row i of the shuffled batch is row `order[i]` of the batch. With at least as many groups as a
    group has members, no two rows of one group are in the same group again.
    """
    shuffled = torch.cat(
        [
            part[torch.randperm(len(part), generator=generator)]
            for part in torch.arange(count).split(_sizes(count, groups))
        ]
    )
    return torch.cat([shuffled[start::groups] for start in range(groups)])


def _sizes(count: int, groups: int) -> list[int]:
    """Of `groups` contiguous parts of `count` rows, as even as can be."""
    size, larger = divmod(count, groups)
    return [size + (number < larger) for number in range(groups)]


class KeyShuffle:
    """Shuffles the keys of all ranks before they are encoded, and restores their order after."""

    def __init__(self, count: int, groups: int, generator: torch.Generator) -> None:
        """`count` rows on each rank, `groups` of batch norm on each rank; same generator on all."""
        world = world_size()
        self.order = shuffled_order(count * world, max(groups, 1) * world, generator)
        self.inverse = torch.argsort(self.order)

    def shuffle(self, images: Tensor) -> Tensor:
        """(N, ...) of this rank to the (N, ...) that this rank encodes."""
        return gather(images)[own_part(self.order).to(images.device)]

    def restore(self, embeddings: Tensor) -> Tensor:
        """(N, D) in shuffled order to the (N, D) of this rank's own images."""
        return gather(embeddings)[own_part(self.inverse).to(embeddings.device)]


@contextmanager
def running_statistics_kept(network: nn.Module) -> Iterator[None]:
    """Batch norm by batch statistics as always, which leave no trace in the running ones."""
    norms = [module for module in network.modules() if isinstance(module, _BatchNorm)]
    momenta = [norm.momentum for norm in norms]
    counts = [norm.num_batches_tracked for norm in norms]
    for norm in norms:
        norm.momentum, norm.num_batches_tracked = 0.0, None
    try:
        yield
    finally:
        for norm, momentum, count in zip(norms, momenta, counts, strict=True):
            norm.momentum, norm.num_batches_tracked = momentum, count
