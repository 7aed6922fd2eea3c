"""Two ranks must equal one: `assert_two_ranks_equal_one(settings)` for any method."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import Tensor

from tests.small import PlainEncoder, part_of, random_views
from unshortcut.methods.method import Batch, Method, MethodSettings, TrainingContext

STEPS, LR = 3, 0.5
IMAGES, CLASSES = 20, 3


@dataclass
class Trace:
    """What a few steps of a method did."""

    losses: list[Tensor]
    gradients: list[dict[str, Tensor]]
    buffers: dict[str, Tensor]


def assert_two_ranks_equal_one(settings: MethodSettings, batch: int = 8) -> None:
    """StepOutput and gradient of two gloo ranks equal one process on the joined batch, to 1e-6.

    Buffers (queues and their pointers) must be identical on both ranks.
    """
    alone = run_steps(settings, batch, rank=0, world=1)
    with tempfile.TemporaryDirectory() as folder:
        # A fork server imports torch once for all cases (conftest.py), a spawn for each.
        mp.start_processes(
            _work, args=(settings, batch, folder), nprocs=2, start_method="forkserver"
        )
        first, second = (
            torch.load(Path(folder) / f"{rank}.pt", weights_only=False) for rank in (0, 1)
        )
    for step in range(STEPS):
        joined = (first.losses[step] + second.losses[step]) / 2
        torch.testing.assert_close(joined, alone.losses[step], rtol=0, atol=1e-6)
        for name, expected in alone.gradients[step].items():
            assert expected.abs().sum() > 0 or "bias" in name, f"no gradient reaches {name}"
            torch.testing.assert_close(first.gradients[step][name], expected, rtol=0, atol=1e-6)
    for name, buffer in alone.buffers.items():
        assert torch.equal(first.buffers[name], second.buffers[name]), f"{name} differs on ranks"
        torch.testing.assert_close(first.buffers[name], buffer, rtol=0, atol=1e-6)


def run_steps(settings: MethodSettings, batch: int, rank: int, world: int) -> Trace:
    """A few plain gradient steps in float64, gradients averaged over ranks as DDP does."""
    torch.manual_seed(0)
    training = TrainingContext(num_images=IMAGES, num_classes=CLASSES)
    method: Method = settings.build(PlainEncoder(), training).double()
    names = tuple(settings.view_transforms())
    losses, gradients = [], []
    for step in range(STEPS):
        views = part_of(random_views(names, batch, seed=step), rank, world)
        index, label = (part_of({"": all_}, rank, world)[""] for all_ in _names(batch, step))
        result = method.loss(Batch(views, index, label))
        method.zero_grad()
        result.loss.backward()
        method.on_after_backward()
        step_gradients = {}
        with torch.no_grad():
            for name, parameter in method.named_parameters():
                if parameter.grad is None:
                    continue
                if world > 1:
                    dist.all_reduce(parameter.grad)
                    parameter.grad /= world
                step_gradients[name] = parameter.grad.clone()
                parameter -= LR * parameter.grad
        losses.append(result.loss.detach())
        gradients.append(step_gradients)
    return Trace(losses, gradients, {name: value.clone() for name, value in method.named_buffers()})


def _names(batch: int, step: int) -> tuple[Tensor, Tensor]:
    """Which images a batch holds, and their classes."""
    index = torch.randperm(IMAGES, generator=torch.Generator().manual_seed(step))[:batch]
    return index, index % CLASSES


def _work(rank: int, settings: MethodSettings, batch: int, folder: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    torch.save(run_steps(settings, batch, rank, world=2), Path(folder) / f"{rank}.pt")
    dist.destroy_process_group()
