"""Optimizers (timm's) and learning-rate schedules, as a recipe names them."""

import math
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator
from timm.optim import create_optimizer_v2, list_optimizers
from torch import nn
from torch.optim import Optimizer

from unshortcut.errors import UsageError, unknown


class OptimizerSettings(BaseModel):
    """Any optimizer of timm by name; weight decay skips biases and norms where asked.

    `sgd` is plain SGD with momentum, as in the papers, and `nesterov` Nesterov's.
    """

    model_config = ConfigDict(extra="forbid")

    name: str = "sgd"
    lr: float = Field(0.03, gt=0)
    """Learning rate at the recipe's batch size."""
    momentum: float = Field(0.9, ge=0, lt=1)
    """Momentum of SGD and LARS; Adam's betas are set in `options`."""
    weight_decay: float = Field(1e-4, ge=0)
    decay_norm_and_bias: bool = True
    """MoCo decays everything; SimCLR and BYOL leave biases and norms alone."""
    options: dict[str, Any] = {}

    @field_validator("name")
    @classmethod
    def _known(cls, name: str) -> str:
        known = {*list_optimizers(), *_NAMES}
        if name not in known:
            raise unknown("optimizer", name, known)
        return name


_NAMES = {"sgd": "momentum", "nesterov": "sgd"}
"""Where our names differ from timm's, whose `sgd` is Nesterov's."""


class ScheduleSettings(BaseModel):
    """Learning rate over the run, as a factor of the optimizer's."""

    model_config = ConfigDict(extra="forbid")

    epochs: int = Field(200, ge=1)
    kind: Literal["cosine", "step", "constant"] = "cosine"
    warmup_epochs: float = Field(0, ge=0)
    """Linear from 0."""
    per: Literal["step", "epoch"] = "step"
    """Whether the rate changes each step or, as in MoCo's code, at the start of each epoch."""
    milestones: list[int] = []
    """Epochs at which the kind `step` multiplies the rate by `gamma`."""
    gamma: float = 0.1


def build_optimizer(module: nn.Module, settings: OptimizerSettings) -> Optimizer:
    """timm's optimizer over the parameters of a module that take a gradient."""
    options = dict(settings.options)
    if "betas" in options:
        options["betas"] = tuple(options["betas"])
    try:
        optimizer: Optimizer = create_optimizer_v2(
            module,
            opt=_NAMES.get(settings.name, settings.name),
            lr=settings.lr,
            weight_decay=settings.weight_decay,
            momentum=settings.momentum,
            filter_bias_and_bn=not settings.decay_norm_and_bias,
            **options,
        )
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"optimizer.options {settings.options} do not fit '{settings.name}': {error}"
        ) from None
    for group in optimizer.param_groups:
        group["full_lr"] = group["lr"]
    return optimizer


def rate_factor(settings: ScheduleSettings, step: int, steps_per_epoch: int) -> float:
    """The learning rate after `step` optimizer steps, as a factor of the initial one."""
    epoch = step / steps_per_epoch
    if settings.per == "epoch":
        epoch = math.floor(epoch)
    if epoch < settings.warmup_epochs:
        # The first step is not wasted on a rate of exactly 0.
        return max(epoch, 1 / steps_per_epoch) / settings.warmup_epochs
    if settings.kind == "constant":
        return 1.0
    if settings.kind == "step":
        return float(settings.gamma ** sum(epoch >= milestone for milestone in settings.milestones))
    length = max(settings.epochs - settings.warmup_epochs, 1e-9)
    progress = min((epoch - settings.warmup_epochs) / length, 1.0)
    return 0.5 * (1.0 + math.cos(math.pi * progress))


def set_rate(optimizer: Optimizer, factor: float) -> None:
    """Give every group its learning rate: the one that it was built with, times the factor."""
    for group in optimizer.param_groups:
        group["lr"] = group["full_lr"] * factor
