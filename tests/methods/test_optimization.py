"""Schedules at exact steps, and which parameters are decayed."""

import math

import pytest
import timm
import torch
from timm.optim import create_optimizer_v2
from torch import nn

from unshortcut.errors import UsageError
from unshortcut.methods.optimization import (
    OptimizerSettings,
    ScheduleSettings,
    build_optimizer,
    lr_factor,
    set_lr,
)


def test_moco_sets_its_cosine_once_an_epoch() -> None:
    schedule = ScheduleSettings(epochs=200, kind="cosine", per="epoch")
    factors = [lr_factor(schedule, step, 10) for step in (0, 9, 10, 1000, 1999)]
    expected = [0.5 * (1 + math.cos(math.pi * epoch / 200)) for epoch in (0, 0, 1, 100, 199)]
    assert factors == pytest.approx(expected)


def test_steps_drop_at_milestones() -> None:
    schedule = ScheduleSettings(epochs=500, kind="step", milestones=[300, 400])
    assert [lr_factor(schedule, e * 7, 7) for e in (0, 299, 300, 400)] == pytest.approx(
        [1, 1, 0.1, 0.01]
    )


def test_pix2pix_keeps_its_rate_and_then_falls_linearly_to_zero() -> None:
    schedule = ScheduleSettings(epochs=8, kind="linear", constant_epochs=4)
    factors = [lr_factor(schedule, step, 10) for step in (0, 40, 50, 65, 80)]
    assert factors == pytest.approx([1, 1, 0.75, 0.375, 0])
    by_epoch = schedule.model_copy(update={"per": "epoch", "warmup_epochs": 2})
    assert [lr_factor(by_epoch, 10 * e + 9, 10) for e in (0, 1, 5, 6, 7)] == [0.5, 1, 1, 1, 0.5]


def test_warm_up_is_linear_and_then_the_cosine_runs_to_zero() -> None:
    schedule = ScheduleSettings(epochs=10, warmup_epochs=2)
    assert lr_factor(schedule, 0, 100) == pytest.approx(0.005)
    assert lr_factor(schedule, 100, 100) == pytest.approx(0.5)
    assert lr_factor(schedule, 200, 100) == pytest.approx(1)
    assert lr_factor(schedule, 600, 100) == pytest.approx(0.5)
    assert lr_factor(schedule, 1000, 100) == pytest.approx(0)


@pytest.mark.parametrize(
    ("warmup", "expected"), [(3, [1 / 3, 2 / 3, 1]), (2.5, [0.4, 0.8, 1]), (0.5, [1])]
)
def test_warm_up_by_epoch_never_wastes_an_epoch(warmup: float, expected: list[float]) -> None:
    schedule = ScheduleSettings(epochs=10, kind="constant", per="epoch", warmup_epochs=warmup)
    for epoch, factor in enumerate([*expected, 1, 1]):
        for step in (100 * epoch, 100 * epoch + 99):
            assert lr_factor(schedule, step, 100) == pytest.approx(factor)


@pytest.mark.parametrize("name", ["sgd", "adamw", "lars"])
def test_optimizers_by_name_train_and_follow_the_rate(name: str) -> None:
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    settings = OptimizerSettings(name=name, lr=0.1, decay_norm_and_bias=False, weight_decay=0.5)
    optimizer = build_optimizer(module, settings)
    decays = {
        id(parameter): group["weight_decay"]
        for group in optimizer.param_groups
        for parameter in group["params"]
    }
    assert decays[id(module[0].weight)] == 0.5
    assert decays[id(module[0].bias)] == decays[id(module[1].weight)] == 0
    set_lr(optimizer, 0.25)
    assert all(group["lr"] == pytest.approx(0.025) for group in optimizer.param_groups)
    before = module[0].weight.detach().clone()
    module(torch.randn(8, 3)).square().sum().backward()
    optimizer.step()
    assert not torch.equal(before, module[0].weight)


def test_embeddings_of_a_vit_are_decayed_or_not_as_timm_does_it() -> None:
    vit = timm.create_model("vit_tiny_patch16_224", img_size=32, depth=1, num_classes=0)
    wrapped = nn.Sequential(vit, nn.Linear(192, 3))
    names = {id(parameter): name for name, parameter in vit.named_parameters()}

    def decayed(optimizer: torch.optim.Optimizer) -> set[str]:
        groups = [group for group in optimizer.param_groups if group["weight_decay"]]
        return {names[id(one)] for group in groups for one in group["params"] if id(one) in names}

    settings = OptimizerSettings(name="adamw", decay_norm_and_bias=False, decay_embeddings=False)
    theirs = decayed(create_optimizer_v2(vit, "adamw", lr=0.1, weight_decay=0.1))
    assert decayed(build_optimizer(wrapped, settings)) == theirs
    with_embeddings = build_optimizer(
        wrapped, settings.model_copy(update={"decay_embeddings": True})
    )
    assert decayed(with_embeddings) == theirs | {"cls_token", "pos_embed"}
    every = build_optimizer(wrapped, settings.model_copy(update={"decay_norm_and_bias": True}))
    assert decayed(every) == set(names.values()) - {"cls_token", "pos_embed"}


def test_sgd_is_the_plain_one_of_the_papers() -> None:
    torch.manual_seed(0)
    ours, theirs = nn.Linear(3, 2), nn.Linear(3, 2)
    theirs.load_state_dict(ours.state_dict())
    settings = OptimizerSettings(name="sgd", lr=0.1, momentum=0.9, weight_decay=1e-2)
    optimizers = (
        build_optimizer(ours, settings),
        torch.optim.SGD(theirs.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-2),
    )
    for step in range(3):
        x = torch.randn(4, 3, generator=torch.Generator().manual_seed(step))
        for module, optimizer in zip((ours, theirs), optimizers, strict=True):
            optimizer.zero_grad()
            module(x).square().sum().backward()
            optimizer.step()
    torch.testing.assert_close(ours.weight, theirs.weight)
    nesterov = build_optimizer(ours, OptimizerSettings(name="nesterov"))
    assert nesterov.defaults["nesterov"] and not optimizers[0].defaults["nesterov"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"name": "sgdd"}, "unknown optimizer 'sgdd'; did you mean 'sgd'"),
        ({"name": "sgd", "options": {"nonsense": 1}}, "do not fit 'sgd'"),
    ],
)
def test_a_wrong_optimizer_is_one_sentence(settings: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        build_optimizer(nn.Linear(2, 2), OptimizerSettings(**settings))
