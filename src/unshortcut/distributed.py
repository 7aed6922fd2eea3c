"""Communication between ranks, with its gradient; in a single process everything is local.

A loss is a mean over the queries of one rank, and DDP averages gradients over ranks. So the
gradient of a gathered tensor is the *sum* of the gradients from all ranks' losses: then two ranks
get the gradient of one process on the joined batch.
"""

from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

T = TypeVar("T")


def world_size() -> int:
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def rank() -> int:
    return dist.get_rank() if dist.is_available() and dist.is_initialized() else 0


def gather(x: Tensor) -> Tensor:
    """Gather (N, ...) from each of W ranks into (W·N, ...) on all of them, ordered by rank.

    N is the same on all ranks, as `EpochSampler` makes it; otherwise NCCL would wait forever.
    """
    if world_size() == 1:
        return x
    gathered: Tensor = _Gather.apply(x)
    return gathered


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        parts = [
            torch.empty_like(x, memory_format=torch.contiguous_format) for _ in range(world_size())
        ]
        dist.all_gather(parts, x.contiguous())
        return torch.cat(parts)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        gradient = gradients[0].contiguous().clone()
        dist.all_reduce(gradient)
        return gradient.chunk(world_size())[rank()]


def own_part(x: Tensor) -> Tensor:
    """The rows of a gathered tensor (W·N, ...) that belong to this rank: (N, ...)."""
    return x.chunk(world_size())[rank()]


def wait_for_ranks() -> None:
    """Return once every rank has called this."""
    if world_size() > 1:
        dist.barrier()


def any_rank(*flags: bool) -> tuple[bool, ...]:
    """For each flag, whether it is set on any rank; every rank must call this."""
    if world_size() == 1:
        return flags
    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    votes = torch.tensor([float(flag) for flag in flags], device=device)
    dist.all_reduce(votes, op=dist.ReduceOp.MAX)
    return tuple(vote > 0 for vote in votes.tolist())


def gather_lists(own: list[T]) -> list[T]:
    """The lists of all ranks, joined; every rank must call this."""
    if world_size() == 1:
        return list(own)
    parts: list[list[T]] = [[] for _ in range(world_size())]
    dist.all_gather_object(parts, own)
    return [item for part in parts for item in part]
