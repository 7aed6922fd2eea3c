"""Alpha, the weight of a source of negatives, and its schedule."""

import math
from abc import abstractmethod
from typing import Annotated, Literal

from pydantic import Field
from torch import Tensor

from unshortcut.fields import NonNegativeNumber, Number
from unshortcut.losses.loss import Placement
from unshortcut.negatives.source import ContrastStep, NegativeSettings, NegativeSource
from unshortcut.parts import settings


@settings
class AlphaSchedule:
    """Changes alpha from `first` to its value during the first part of the training."""

    kind: Literal["constant", "linear", "cosine"] = "constant"
    first: NonNegativeNumber = 0.0
    over: Annotated[Number, Field(gt=0, le=1)] = 1.0
    """The fraction of the training after which alpha has its value."""

    def __post_init__(self) -> None:
        if self.kind == "constant" and (self.first, self.over) != (0.0, 1.0):
            raise ValueError(
                "'first' and 'over' have no effect on a constant alpha; set 'kind' to linear or "
                "cosine"
            )

    def at(self, alpha: float, progress: float) -> float:
        """The weight after the fraction `progress` of the training, if `alpha` is its last value.

        >>> AlphaSchedule("linear", over=0.5).at(2.0, progress=0.25)
        1.0
        """
        if self.kind == "constant":
            return alpha
        fraction = min(progress / self.over, 1.0)
        if self.kind == "cosine":
            fraction = (1 - math.cos(math.pi * fraction)) / 2
        return self.first + fraction * (alpha - self.first)


@settings
class WeightedSettings(NegativeSettings):
    """Settings of a source with a weight; a source with alpha 0 is absent."""

    alpha: NonNegativeNumber = 2.0
    """The weight of these negatives; the larger, the further they are pushed away."""
    placement: Placement = "inside"
    """Alpha inside the exponential (L_in, as in the authors' code) or as its factor (L_out)."""
    schedule: AlphaSchedule = AlphaSchedule()
    """How alpha changes during the training."""

    @property
    def absent(self) -> bool:
        falls = self.schedule.kind != "constant" and self.schedule.first > 0
        return self.alpha == 0 and not falls


class WeightedNegatives(NegativeSource):
    """A source whose similarities are weighted by alpha."""

    def __init__(self, settings: WeightedSettings) -> None:
        super().__init__()
        self.settings = settings

    @abstractmethod
    def unweighted(self, step: ContrastStep) -> Tensor | None:
        """(M, K) similarities of the queries to their negatives; None without negatives."""

    def similarities(self, step: ContrastStep) -> Tensor:
        alpha = self.settings.schedule.at(self.settings.alpha, step.progress)
        found = None if alpha == 0 else self.unweighted(step)
        if found is None:
            return step.queries.new_empty(len(step.queries), 0)
        return step.weigh(found, alpha, self.settings.placement)
