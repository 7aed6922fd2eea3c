"""Optimizers (timm's) and learning-rate schedules."""

import math
from functools import partial
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from timm.optim import create_optimizer_v2, list_optimizers, param_groups_weight_decay
from torch import nn
from torch.optim import Optimizer

from unshortcut.errors import UsageError, unknown


class OptimizerSettings(BaseModel):
    """An optimizer of timm by name.

    `sgd` is SGD with momentum, as in the papers; `nesterov` uses Nesterov momentum.
    """

    model_config = ConfigDict(extra="forbid")

    name: str = "sgd"
    lr: float = Field(0.03, gt=0)
    """Learning rate for the recipe's batch size."""
    momentum: float = Field(0.9, ge=0, lt=1)
    """Momentum of SGD and LARS; the betas of Adam are set in `options`."""
    weight_decay: float = Field(1e-4, ge=0)
    decay_norm_and_bias: bool = True
    """Whether to decay biases and norms too, as in MoCo; SimCLR and BYOL do not."""
    decay_embeddings: bool = True
    """Whether to decay what timm never decays by itself, such as class token and positions of a
    ViT; MAE's fine-tuning does not."""
    options: dict[str, Any] = {}
    """Further arguments of the optimizer."""

    @field_validator("name")
    @classmethod
    def _known(cls, name: str) -> str:
        known = {*list_optimizers(), *_NAMES}
        if name not in known:
            raise unknown("optimizer", name, known)
        return name


_NAMES = {"sgd": "momentum", "nesterov": "sgd"}
"""Our names to timm's where they differ: timm's `sgd` uses Nesterov momentum."""


class ScheduleSettings(BaseModel):
    """The learning rate over the run, as a factor of the optimizer's `lr`."""

    model_config = ConfigDict(extra="forbid")

    epochs: int = Field(200, ge=1)
    kind: Literal["cosine", "step", "constant", "linear"] = "cosine"
    warmup_epochs: float = Field(0, ge=0)
    """Epochs in which the learning rate rises linearly to its full value."""
    per: Literal["step", "epoch"] = "step"
    """Whether the learning rate changes with each step or, as in MoCo's code, with each epoch."""
    milestones: list[int] = []
    """Epochs at which the kind `step` multiplies the learning rate by `gamma`."""
    gamma: float = 0.1
    constant_epochs: float = Field(0, ge=0)
    """Epochs after the warm-up before the kind `linear` begins to fall to 0, as in Pix2Pix."""

    @model_validator(mode="after")
    def _used(self) -> Self:
        if self.constant_epochs and self.kind != "linear":
            raise UsageError(
                f"schedule.constant_epochs is for schedule.kind linear, not for {self.kind}"
            )
        return self


def build_optimizer(module: nn.Module, settings: OptimizerSettings) -> Optimizer:
    """Build timm's optimizer for the trainable parameters of a module."""
    options = dict(settings.options)
    if "betas" in options:
        options["betas"] = tuple(options["betas"])
    if not settings.decay_embeddings:
        if "layer_decay" in options:
            raise UsageError(
                "optimizer.options.layer_decay needs decay_embeddings: true; the protocols of "
                "finetune have train.layer_decay, which goes with both"
            )
        options["param_group_fn"] = partial(
            param_groups_weight_decay,
            weight_decay=settings.weight_decay,
            weight_decay_exclude_1d=not settings.decay_norm_and_bias,
            no_weight_decay_list=_embeddings(module),
        )
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


def _embeddings(module: nn.Module) -> set[str]:
    """Names of the parameters that timm does not decay: class token and positions of a ViT."""
    return {
        f"{prefix}.{name}".removeprefix(".")
        for prefix, part in module.named_modules()
        if callable(getattr(part, "no_weight_decay", None))
        for name in part.no_weight_decay()
    }


def lr_factor(settings: ScheduleSettings, step: int, steps_per_epoch: int) -> float:
    """The learning rate after `step` optimizer steps, relative to the optimizer's `lr`."""
    epoch = step / steps_per_epoch
    if settings.per == "epoch":
        epoch = math.floor(epoch)
    if epoch < settings.warmup_epochs:
        if settings.per == "epoch":
            return min((epoch + 1) / settings.warmup_epochs, 1.0)
        # The first step should not have a learning rate of exactly 0.
        return max(epoch, 1 / steps_per_epoch) / settings.warmup_epochs
    if settings.kind == "constant":
        return 1.0
    if settings.kind == "step":
        return float(settings.gamma ** sum(epoch >= milestone for milestone in settings.milestones))
    if settings.kind == "linear":
        start = settings.warmup_epochs + settings.constant_epochs
        fallen = max(epoch - start, 0.0) / max(settings.epochs - start, 1e-9)
        return max(1.0 - fallen, 0.0)
    length = max(settings.epochs - settings.warmup_epochs, 1e-9)
    progress = min((epoch - settings.warmup_epochs) / length, 1.0)
    return 0.5 * (1.0 + math.cos(math.pi * progress))


def set_lr(optimizer: Optimizer, factor: float) -> None:
    """Set the learning rate of every group to its full value times the factor."""
    for group in optimizer.param_groups:
        group["lr"] = group["full_lr"] * factor
