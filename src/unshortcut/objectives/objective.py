"""What an objective of the contrastive family is: similarities in, a loss out."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Annotated, ClassVar

from torch import Tensor

from unshortcut.parts import PartOf


class Objective(ABC):
    """A frozen dataclass that gives a pure function its settings; found by its `name`."""

    name: ClassVar[str]

    @abstractmethod
    def __call__(self, positive: Tensor, negatives: Sequence[Tensor]) -> Tensor:
        """Loss of each query (N,), from similarities: positive (N,), negatives (N, K_i) each."""


AnyObjective = Annotated[Objective, PartOf("unshortcut.objectives", Objective, "objective")]
"""A field that holds an objective."""
