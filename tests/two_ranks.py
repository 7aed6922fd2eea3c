"""Two ranks must equal one: `assert_two_ranks_equal_one(settings)` for any method."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor

from tests.ranks import on_ranks
from tests.small import PlainEncoder, part_of, random_views
from unshortcut.methods.method import Method, MethodSettings, TrainingContext
from unshortcut.methods.step import Batch
from unshortcut.models.encoder import Encoder

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
    alone = run_steps(0, 1, settings, batch)
    first, second = on_ranks(2, run_steps, settings, batch)
    assert_joined_equal_one(alone, first, second)
    for gradients in alone.gradients:
        for name, found in gradients.items():
            assert found.abs().sum() > 0 or "bias" in name, f"no gradient reaches {name}"
    for name, buffer in alone.buffers.items():
        assert torch.equal(first.buffers[name], second.buffers[name]), f"{name} differs on ranks"
        torch.testing.assert_close(first.buffers[name], buffer, rtol=0, atol=1e-6)


def assert_joined_equal_one(alone: Trace, first: Trace, second: Trace) -> None:
    """The mean loss of two ranks and their averaged gradients equal those of one, to 1e-6."""
    for step in range(STEPS):
        joined = (first.losses[step] + second.losses[step]) / 2
        torch.testing.assert_close(joined, alone.losses[step], rtol=0, atol=1e-6)
        for name, expected in alone.gradients[step].items():
            torch.testing.assert_close(first.gradients[step][name], expected, rtol=0, atol=1e-6)


def run_steps(
    rank: int,
    world: int,
    settings: MethodSettings,
    batch: int,
    encoder: type[Encoder] = PlainEncoder,
    convert: Callable[[Method], None] = lambda method: None,
    size: int = 4,
) -> Trace:
    """A few plain gradient steps in float64, gradients averaged over ranks as DDP does.

    `convert` changes the method before its first step; views have `size` pixels a side.
    """
    torch.manual_seed(0)
    training = TrainingContext(num_images=IMAGES, num_classes=CLASSES)
    method: Method = settings.build(encoder(), training).double()
    convert(method)
    names = tuple(settings.view_transforms())
    losses, gradients = [], []
    for step in range(STEPS):
        views = part_of(random_views(names, batch, step, size), rank, world)
        index, label = (part_of({"": all_}, rank, world)[""] for all_ in _names(batch, step))
        result = method.loss(Batch(views, index, label, trusted=index % 4 == 0))
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
