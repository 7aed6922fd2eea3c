"""BYOL against a direct transcription of its step; what is slow and what learns."""

import copy
import math
from types import SimpleNamespace

import pytest
import torch
from torch.nn import functional as F

from tests.small import PlainEncoder, random_views
from unshortcut.errors import UsageError
from unshortcut.methods.byol import BYOL, BYOLSettings
from unshortcut.methods.optimization import OptimizerSettings, build_optimizer
from unshortcut.methods.step import Batch, DeviceBatch
from unshortcut.negatives.patch import PatchSettings

NAMES = ("query", "key", "patch_negative", "key_patch_negative")
ALPHA = 0.05


def build(*negatives: PatchSettings, batch_norm: bool = False) -> BYOL:
    torch.manual_seed(0)
    settings = BYOLSettings(
        hidden=8, dim=5, momentum=0.9, head_batch_norm=batch_norm, negatives=negatives
    )
    return settings.build(PlainEncoder()).double()


def test_two_steps_equal_a_transcription_of_equation_2() -> None:
    method = build(PatchSettings(alpha=ALPHA))
    fast = copy.deepcopy(method.network)
    predictor = copy.deepcopy(method.predictor)
    slow = copy.deepcopy(method.network)
    learning = [*fast.parameters(), *predictor.parameters()]
    for step in range(2):
        views = random_views(NAMES, 6, seed=step)
        result = method.loss(Batch(views))
        method.zero_grad()
        result.loss.backward()
        method.on_after_backward()

        with torch.no_grad():
            for one, other in zip(slow.parameters(), fast.parameters(), strict=True):
                one.copy_(0.9 * one + 0.1 * other)
            target = {name: F.normalize(slow(view), dim=1) for name, view in views.items()}
        expected = torch.zeros((), dtype=torch.float64)
        for view, other, negative in (
            ("query", "key", "patch_negative"),
            ("key", "query", "key_patch_negative"),
        ):
            predicted = F.normalize(predictor(fast(views[view])), dim=1)
            near = (predicted - target[other]).square().sum(1)
            far = (predicted - target[negative]).square().sum(1)
            expected = expected + (near - ALPHA * far).mean()
        for parameter in learning:
            parameter.grad = None
        expected.backward()

        torch.testing.assert_close(result.loss, expected)
        ours = [*method.network.parameters(), *method.predictor.parameters()]
        for mine, theirs in zip(ours, learning, strict=True):
            torch.testing.assert_close(mine.grad, theirs.grad)
            with torch.no_grad():
                mine -= 0.1 * mine.grad
                theirs -= 0.1 * theirs.grad


def test_the_slow_copy_takes_no_gradient_and_the_predictor_is_not_copied() -> None:
    method = build(batch_norm=True)
    method.loss(Batch(random_views(("query", "key"), 6, seed=0))).loss.backward()
    assert all(p.grad is None for p in method.slow_network.parameters())
    assert all(p.grad is not None for p in method.predictor.parameters())
    assert not any("predictor" in name for name, _ in method.slow_network.named_parameters())


@pytest.mark.parametrize("step", [0, 30, 60, 120])
def test_momentum_goes_to_1_along_a_cosine(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    method = build()
    monkeypatch.setattr(method.training_context.schedule, "epochs", 20)
    trainer = SimpleNamespace(
        accumulate_grad_batches=1, num_training_batches=6, global_step=step, world_size=1
    )
    monkeypatch.setattr(method, "_trainer", trainer)
    expected = 1 - (1 - 0.9) * (math.cos(math.pi * step / 120) + 1) / 2
    assert method.momentum() == pytest.approx(expected)


def test_lars_leaves_biases_and_norms_to_plain_momentum() -> None:
    """No decay and no trust ratio for them, as published (timm's LARS)."""
    method = build(batch_norm=True)
    settings = OptimizerSettings(
        name="lars", lr=4.8, momentum=0.0, weight_decay=1e-6, decay_norm_and_bias=False
    )
    optimizer = build_optimizer(method, settings)
    before = {name: p.detach().clone() for name, p in method.named_parameters()}
    for parameter in method.parameters():
        if parameter.requires_grad:
            parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    for name, parameter in method.named_parameters():
        if parameter.requires_grad and parameter.ndim == 1:
            torch.testing.assert_close(parameter, before[name] - 4.8)
        elif parameter.requires_grad:
            moved = (parameter - before[name]).norm()
            trust = 1e-3 * before[name].norm()
            torch.testing.assert_close(moved, 4.8 * trust, rtol=1e-2, atol=0)


def test_alpha_before_an_exponential_is_refused_before_a_run() -> None:
    settings = BYOLSettings(negatives=(PatchSettings(placement="outside"),))
    with pytest.raises(UsageError, match="placement"):
        settings.check(DeviceBatch(8))
