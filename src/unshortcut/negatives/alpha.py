"""Alpha, the weight of a source of negatives: a number, where it stands, how it changes."""

import math
from dataclasses import dataclass
from typing import Literal

from unshortcut.errors import UsageError
from unshortcut.losses.loss import Placement
from unshortcut.negatives.source import NegativeSettings


@dataclass(frozen=True)
class AlphaSchedule:
    """How alpha goes from `first` to its value over the share `over` of the training."""

    kind: Literal["constant", "linear", "cosine"] = "constant"
    first: float = 0.0
    over: float = 1.0

    def __post_init__(self) -> None:
        if self.kind == "constant" and (self.first, self.over) != (0.0, 1.0):
            raise UsageError(
                "schedule.first and schedule.over are for the kinds linear and cosine; "
                "say which with schedule.kind"
            )
        if self.first < 0:
            raise UsageError(f"schedule.first must be at least 0, got {self.first}")
        if not 0 < self.over <= 1:
            raise UsageError(f"schedule.over must be above 0 and at most 1, got {self.over}")

    def at(self, alpha: float, progress: float) -> float:
        """Alpha after the share `progress` of the training.

        >>> AlphaSchedule("linear", over=0.5).at(2.0, progress=0.25)
        1.0
        """
        if self.kind == "constant":
            return alpha
        way = min(progress / self.over, 1.0)
        if self.kind == "cosine":
            way = (1 - math.cos(math.pi * way)) / 2
        return self.first + way * (alpha - self.first)


@dataclass(frozen=True)
class WeighedSettings(NegativeSettings):
    """A source with a weight; at alpha 0 it is absent."""

    alpha: float = 2.0
    """The weight of these negatives: the higher, the further they are pushed away."""
    placement: Placement = "inside"
    """In the exponential (L_in, the authors' code) or before it (L_out)."""
    schedule: AlphaSchedule = AlphaSchedule()
    """How alpha changes during the training."""

    def __post_init__(self) -> None:
        if self.alpha < 0:
            raise UsageError(f"{self.name}.alpha must be at least 0, got {self.alpha}")

    @property
    def absent(self) -> bool:
        falls = self.schedule.kind != "constant" and self.schedule.first > 0
        return self.alpha == 0 and not falls

    def alpha_at(self, progress: float) -> float:
        return self.schedule.at(self.alpha, progress)
