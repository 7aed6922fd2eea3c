"""What an loss is: similarities in, a loss out; it also says how a weight enters."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from torch import Tensor

from unshortcut.errors import UsageError
from unshortcut.parts import PartOf

Placement = Literal["inside", "outside"]
"""Where alpha stands: in the exponential (L_in) or before it (L_out; NSN, appendix B.1)."""


class Loss(ABC):
    """A frozen dataclass that gives a pure function its settings; found by its `name`."""

    name: ClassVar[str]

    @abstractmethod
    def __call__(self, positive: Tensor, negatives: Sequence[Tensor]) -> Tensor:
        """The loss of each query (N,), from its similarities to positives (N,) and negatives."""

    @abstractmethod
    def weigh(self, similarities: Tensor, alpha: float, placement: Placement) -> Tensor:
        """Similarities (N, K) such that this loss weighs these negatives by alpha > 0."""


class ContrastiveLoss(Loss):
    """An loss in which a negative counts by exp(similarity / temperature)."""

    temperature: float

    def __post_init__(self) -> None:
        if self.temperature <= 0:
            raise UsageError(f"temperature must be above 0, got {self.temperature}")

    def weigh(self, similarities: Tensor, alpha: float, placement: Placement) -> Tensor:
        """α·s, or s + τ·log α, whose exponential is α·exp(s/τ)."""
        if placement == "inside":
            return alpha * similarities
        return similarities + self.temperature * math.log(alpha)


AnyLoss = Annotated[Loss, PartOf("unshortcut.losses", Loss, "loss")]
"""A field that holds an loss."""
