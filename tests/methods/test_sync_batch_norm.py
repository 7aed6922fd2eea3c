"""Synchronized batch norm, which torch runs on GPUs only: its own checks, with gloo underneath."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.distributed as dist
from timm.layers import convert_sync_batchnorm
from torch import Tensor, nn

from tests.ranks import on_ranks
from tests.small import NormedEncoder, random_views
from tests.two_ranks import Trace, run_steps
from unshortcut.methods.byol import BYOLSettings
from unshortcut.methods.insdis import InsDisSettings
from unshortcut.methods.method import Method, MethodSettings
from unshortcut.methods.simclr import SimCLRSettings
from unshortcut.methods.step import Batch
from unshortcut.negatives.batch import BatchSettings
from unshortcut.negatives.patch import PatchSettings
from unshortcut.negatives.texture import TextureSettings

BATCH = 8
OWN_IMAGE = (PatchSettings(), TextureSettings(placement="outside"))
CASES = {
    "simclr": SimCLRSettings(hidden=8, dim=5, negatives=(BatchSettings(), *OWN_IMAGE)),
    "simclr, with gradient": SimCLRSettings(
        hidden=8, dim=5, negatives=(BatchSettings(), *OWN_IMAGE), negative_gradient=True
    ),
    "insdis": InsDisSettings(dim=5, head_batch_norm=True, bank_negatives=7, negatives=OWN_IMAGE),
    "byol": BYOLSettings(hidden=8, dim=5, negatives=(PatchSettings(alpha=0.05),)),
}


class SumOverRanks(torch.autograd.Function):
    """A sum whose gradient is the sum of the ranks' gradients."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        total = x.clone()
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        total = gradients[0].clone()
        dist.all_reduce(total)
        return total


def normalize_over_ranks(
    input: Tensor,
    weight: Tensor,
    bias: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    eps: float,
    momentum: float,
    *_: object,
) -> Tensor:
    """What torch's kernels compute: statistics over all ranks, and their update in place."""
    dims = [dim for dim in range(input.dim()) if dim != 1]

    def per_channel(x: Tensor) -> Tensor:
        return x.view([-1 if dim == 1 else 1 for dim in range(input.dim())])

    count = float(SumOverRanks.apply(torch.tensor(float(input.numel() / input.shape[1]))))
    mean = SumOverRanks.apply(input.sum(dims)) / count
    centered = input - per_channel(mean)
    var = SumOverRanks.apply(centered.square().sum(dims)) / count
    running_mean.lerp_(mean.detach(), momentum)
    running_var.lerp_(var.detach() * count / (count - 1), momentum)
    return centered * per_channel(weight * (var + eps).rsqrt()) + per_channel(bias)


@contextmanager
def gloo_instead_of_gpus() -> Iterator[None]:
    """Let `SyncBatchNorm.forward`, with all its checks, run on a CPU; only its kernels differ."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch._C, "_get_privateuse1_backend_name", lambda: "cpu")
        kernels = SimpleNamespace(apply=normalize_over_ranks)
        patch.setattr(torch.nn.modules.batchnorm, "sync_batch_norm", kernels)
        yield


def run_synchronized(rank: int, world: int, settings: MethodSettings) -> Trace:
    """Steps of a method whose batch norms are converted as those of a run on GPUs."""

    def converted(method: Method) -> None:
        convert_sync_batchnorm(method)
        norms = [m for m in method.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm)]
        assert len(norms) >= 2 and all(isinstance(norm, nn.SyncBatchNorm) for norm in norms)

    with gloo_instead_of_gpus():
        return run_steps(rank, world, settings, BATCH, NormedEncoder, converted)


@pytest.mark.parametrize("case", CASES)
def test_two_ranks_with_synchronized_batch_norm_equal_one_process(case: str) -> None:
    alone = run_steps(0, 1, CASES[case], BATCH, NormedEncoder)
    ranks = on_ranks(2, run_synchronized, CASES[case])
    for step, expected in enumerate(alone.losses):
        losses = torch.stack([trace.losses[step] for trace in ranks])
        torch.testing.assert_close(losses.mean(), expected, rtol=0, atol=1e-6)
        for name, gradient in alone.gradients[step].items():
            for trace in ranks:
                found = trace.gradients[step][name]
                torch.testing.assert_close(found, gradient, rtol=0, atol=1e-6, msg=name)
    for name, buffer in alone.buffers.items():  # running statistics among them
        for trace in ranks:
            torch.testing.assert_close(trace.buffers[name], buffer, rtol=0, atol=1e-6, msg=name)


def test_negatives_leave_the_running_statistics_to_the_views() -> None:
    torch.manual_seed(0)
    settings = CASES["simclr"]
    method = settings.build(NormedEncoder()).double()
    with_negatives = {name: value.clone() for name, value in method.state_dict().items()}
    views = random_views(tuple(settings.view_transforms()), BATCH, seed=0)
    method.embed(torch.cat([views["query"], views["key"]]))
    expected = {name: value.clone() for name, value in method.named_buffers()}
    method.load_state_dict(with_negatives)
    method.loss(Batch(views))
    for name, buffer in method.named_buffers():
        assert torch.equal(buffer, expected[name]), name
