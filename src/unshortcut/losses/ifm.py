"""Implicit feature modification: InfoNCE beside its adversarial self (Robinson et al., 2021)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from unshortcut.errors import UsageError
from unshortcut.losses.info_nce import info_nce_loss
from unshortcut.losses.loss import ContrastiveLoss


def ifm_loss(
    positive: Tensor, negatives: Sequence[Tensor], temperature: float, epsilon: float
) -> Tensor:
    """The mean of InfoNCE and InfoNCE of p − ε and n_ik + ε: positives further, negatives nearer.

    positive: (N,) similarity of each query to its positive.
    negatives: a list of (N, K_i) similarities, one a source.
    Returns (N,).

    >>> import torch
    >>> ifm_loss(torch.tensor([1.0]), [torch.tensor([[0.0]])], temperature=1.0, epsilon=0.5)
    tensor([0.5032])
    """
    # What is added to all similarities alike changes nothing: p − 2ε and n are p − ε and n + ε.
    harder = info_nce_loss(positive - 2 * epsilon, negatives, temperature)
    return (info_nce_loss(positive, negatives, temperature) + harder) / 2


@dataclass(frozen=True)
class IFM(ContrastiveLoss):
    """`ifm_loss` with its settings; those of the official code on ImageNet-100, by default."""

    name: ClassVar[str] = "ifm"

    temperature: float = 0.2
    epsilon: float = 0.1
    """How far similarities are moved, before the temperature; 0 is InfoNCE."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon < 0:
            raise UsageError(f"epsilon must be at least 0, got {self.epsilon}")

    def __call__(self, positive: Tensor, negatives: Sequence[Tensor]) -> Tensor:
        return ifm_loss(positive, negatives, self.temperature, self.epsilon)
