"""Schedules of fine-tuning, which papers count in epochs or in optimizer steps."""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from unshortcut.errors import UsageError
from unshortcut.methods.optimization import ScheduleSettings, lr_factor


class TransferSchedule(BaseModel):
    """The length of a training in epochs or steps, and its learning rate as a factor of `lr`."""

    model_config = ConfigDict(extra="forbid")

    epochs: int | None = Field(None, ge=1)
    steps: int | None = Field(None, ge=1)
    """Optimizer steps; a training has either epochs or steps."""
    kind: Literal["cosine", "step", "constant", "linear", "poly"] = "cosine"
    """`poly` is (1 - progress) to the power of `power`."""
    warmup: float = Field(0, ge=0)
    """Epochs, or steps, in which the learning rate rises linearly to its full value; at most half
    of the training, which `--set schedule.steps=…` may shorten."""
    milestones: list[int] = []
    """Epochs, or steps, at which the kind `step` multiplies the learning rate by `gamma`."""
    gamma: float = Field(0.1, gt=0)
    power: float = Field(0.9, gt=0)
    head_first: float = Field(0, ge=0, lt=1)
    """Share of the training in which only the head is trained, before everything is."""

    @model_validator(mode="after")
    def _one_length(self) -> Self:
        if (self.epochs is None) == (self.steps is None):
            raise UsageError("schedule: state either epochs or steps")
        if self.milestones and self.kind != "step":
            raise UsageError(f"schedule.milestones is for schedule.kind step, not for {self.kind}")
        return self

    @model_validator(mode="before")
    @classmethod
    def _other_unit(cls, values: object) -> object:
        """`--set schedule.steps=…` replaces the epochs of a protocol, and the other way round."""
        if isinstance(values, dict) and values.get("steps") and values.get("epochs"):
            last = [key for key in values if key in ("steps", "epochs")][-1]
            return {k: v for k, v in values.items() if k == last or k not in ("steps", "epochs")}
        return values

    def total_steps(self, steps_per_epoch: int) -> int:
        """Optimizer steps of the whole training."""
        if self.steps is not None:
            return self.steps
        assert self.epochs is not None
        return self.epochs * steps_per_epoch

    def factor(self, step: int, steps_per_epoch: int) -> float:
        """The learning rate after `step` optimizer steps, relative to its full value."""
        unit = 1 if self.steps is not None else steps_per_epoch
        length = self.steps or self.epochs or 1
        warmup = min(self.warmup, length / 2)
        if self.kind == "poly":
            position = step / unit
            if position < warmup:
                return max(position, 1 / unit) / warmup
            return max(1 - position / length, 0.0) ** self.power
        settings = ScheduleSettings(
            epochs=length,
            kind=self.kind,
            warmup_epochs=warmup,
            milestones=self.milestones,
            gamma=self.gamma,
        )
        return lr_factor(settings, step, unit)

    def trains_encoder(self, step: int, steps_per_epoch: int) -> bool:
        """Whether the encoder is trained in a step, or the head alone."""
        return step >= self.head_first * self.total_steps(steps_per_epoch)
