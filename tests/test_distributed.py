"""Gathering as NCCL demands it: contiguous, of one shape and dtype, with the right gradient."""

from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from tests.ranks import on_ranks
from unshortcut.data.loader import EpochSampler
from unshortcut.distributed import gather, gather_lists
from unshortcut.models.batchnorm import KeyShuffle

WORLD = 2


def strict(patch: pytest.MonkeyPatch) -> list[str]:
    """Let gloo refuse what NCCL refuses; returns the names of the calls to come."""
    calls = []
    all_gather, all_reduce = dist.all_gather, dist.all_reduce

    def checked_gather(parts: list[Tensor], x: Tensor, *more: Any) -> Any:
        calls.append("all_gather")
        for part in [*parts, x]:
            assert part.is_contiguous(), "NCCL: tensors must be contiguous"
            assert (part.shape, part.dtype) == (x.shape, x.dtype), "NCCL: tensors must be alike"
            assert part is x or part.data_ptr() != x.data_ptr()
        return all_gather(parts, x, *more)

    def checked_reduce(x: Tensor, *more: Any) -> Any:
        calls.append("all_reduce")
        assert x.is_contiguous(), "NCCL: tensors must be contiguous"
        return all_reduce(x, *more)

    patch.setattr(dist, "all_gather", checked_gather)
    patch.setattr(dist, "all_reduce", checked_reduce)
    return calls


def images(dtype: torch.dtype) -> Tensor:
    """The batch of all ranks, (4, 3, 2, 5); small whole numbers, exact in half precision."""
    return (torch.arange(4 * 3 * 2 * 5) % 37).view(4, 3, 2, 5).to(dtype)


def gathered(rank: int, world: int, dtype: torch.dtype) -> dict[str, Any]:
    own = images(dtype).chunk(world)[rank]
    own = own.contiguous(memory_format=torch.channels_last).requires_grad_()
    with pytest.MonkeyPatch.context() as patch:
        calls = strict(patch)
        everything = gather(own)
        # A loss that weighs images by their number, differently on each rank; its gradient comes
        # back channels last.
        weights = torch.arange(1, 5, dtype=dtype).view(4, 1, 1, 1) * (rank + 1)
        loss = (everything.contiguous(memory_format=torch.channels_last) * weights).sum()
        loss.backward()
        shuffle = KeyShuffle(len(own), 2, torch.Generator().manual_seed(0))
        shuffled = shuffle.shuffle(own.detach())
        restored = shuffle.restore(shuffled.flatten(1))
    return {
        "everything": everything.detach(),
        "gradient": own.grad,
        "calls": calls,
        "shuffled": shuffled,
        "restored": torch.equal(restored, own.detach().flatten(1)),
        "listed": gather_lists([f"image {rank}"] * (rank + 1)),  # of different lengths
    }


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_channels_last_and_half_precision_are_gathered_with_their_gradient(
    dtype: torch.dtype,
) -> None:
    ranks = on_ranks(WORLD, gathered, dtype)
    for rank, found in enumerate(ranks):
        assert torch.equal(found["everything"], images(dtype))
        factors = torch.arange(1, 5, dtype=dtype)[2 * rank : 2 * rank + 2] * (1 + 2)
        assert torch.equal(found["gradient"], factors.view(2, 1, 1, 1).expand(2, 3, 2, 5))
        assert found["calls"] == ["all_gather", "all_reduce", "all_gather", "all_gather"]
        assert found["restored"] and found["shuffled"].dtype == dtype
        assert found["listed"] == ["image 0", "image 1", "image 1"]
    together = torch.cat([found["shuffled"] for found in ranks])
    assert sorted(together.flatten(1).tolist()) == sorted(images(dtype).flatten(1).tolist())


@pytest.mark.parametrize(
    ("length", "batch", "accumulate"), [(103, 16, 1), (103, 8, 3), (16, 16, 1)]
)
def test_ranks_never_have_batches_of_different_sizes(
    length: int, batch: int, accumulate: int
) -> None:
    """NCCL would wait forever: images that fill no whole batch are left out on all ranks."""
    samplers = [EpochSampler(length, batch, 0, rank, 4, accumulate) for rank in range(4)]
    sizes = [[len(keys) for keys in sampler] for sampler in samplers]
    assert sizes == [[batch // 4] * len(samplers[0])] * 4
