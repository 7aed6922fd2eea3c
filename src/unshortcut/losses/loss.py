"""The base of losses, which are functions of the similarities of queries to other embeddings."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

import torch
from torch import Tensor

from unshortcut.parts import PartOf

Placement = Literal["inside", "outside"]
"""Alpha inside the exponential (L_in) or as a factor of it (L_out; NSN, appendix B.1)."""


class Loss(ABC):
    """A pure function with settings as fields (see `parts.settings`), found by its `name`."""

    name: ClassVar[str]

    @abstractmethod
    def __call__(self, positive: Tensor, negatives: Sequence[Tensor]) -> Tensor:
        """The loss (N,) of each query.

        positive: (N,) similarity of each query to its positive.
        negatives: a list of (N, K_i) similarities, one tensor per source.
        """

    @abstractmethod
    def weigh(self, similarities: Tensor, alpha: float, placement: Placement) -> Tensor:
        """Change similarities (N, K) so that this loss weights these negatives by alpha > 0."""


class ContrastiveLoss(Loss):
    """A loss in which a negative has the weight exp(similarity / temperature)."""

    temperature: float

    def weigh(self, similarities: Tensor, alpha: float, placement: Placement) -> Tensor:
        """α·s inside; outside s + τ·log α, for which exp(·/τ) is α·exp(s/τ)."""
        similarities = in_float32(similarities)
        if placement == "inside":
            return alpha * similarities
        return similarities + self.temperature * math.log(alpha)


def in_float32(similarities: Tensor) -> Tensor:
    """Similarities in at least single precision, which losses compute in.

    Mixed precision gives them in half precision, and computes `logsumexp` in it: the loss over
    65,536 negatives would be a multiple of 1/128, and their sum could overflow.
    """
    return similarities.to(torch.promote_types(similarities.dtype, torch.float32))


AnyLoss = Annotated[Loss, PartOf("unshortcut.losses", Loss, "loss")]
"""A field that holds a loss."""
