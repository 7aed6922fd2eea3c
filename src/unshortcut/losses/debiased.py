"""Debiased InfoNCE: some negatives are of the query's own class (Chuang et al., 2020)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from unshortcut.errors import UsageError
from unshortcut.losses.loss import ContrastiveLoss


def debiased_loss(
    positive: Tensor, negatives: Sequence[Tensor], temperature: float, positive_share: float
) -> Tensor:
    """−log( e^(p/τ) / (e^(p/τ) + G) ), G what all K negatives would say if none were positive.

    G = max[ (Σ_k e^(n_k/τ) − τ⁺·K·e^(p/τ)) / (1 − τ⁺), K·e^(−1/τ) ]

    positive: (N,) similarity of each query to its positive.
    negatives: a list of (N, K_i) similarities, one a source; K is how many there are in all.
    positive_share: τ⁺, the share of negatives that are of the query's own class.
    Returns (N,).

    >>> debiased_loss(torch.tensor([1.0]), [torch.tensor([[0.0, 0.0]])], 1.0, positive_share=0.1)
    tensor([0.4671])
    """
    logits = torch.cat(list(negatives), dim=1) / temperature
    return without_positives(
        positive, torch.logsumexp(logits, dim=1), logits.shape[1], temperature, positive_share
    )


def without_positives(
    positive: Tensor, log_sum: Tensor, count: int, temperature: float, positive_share: float
) -> Tensor:
    """The loss (N,) out of log Σ_k e^(n_k/τ) (N,), or a reweighed sum of `count` negatives.

    All of it in logarithms: at low temperatures the exponentials leave float32.
    """
    logit = positive / temperature
    # log of the part of the sum that is expected of positives; 0 and above: more than there is.
    log_share = torch.full_like(logit, positive_share).log() + math.log(count) + logit - log_sum
    below_zero = -torch.finfo(log_share.dtype).tiny
    rest = log_sum + torch.log(-torch.expm1(log_share.clamp(max=below_zero)))
    lowest = math.log(count) - 1 / temperature  # of similarities, all of which are above -1
    log_negatives = (rest - math.log1p(-positive_share)).clamp(min=lowest)
    return torch.logaddexp(logit, log_negatives) - logit


@dataclass(frozen=True)
class Debiased(ContrastiveLoss):
    """`debiased_loss` with its settings; those of the official code, by default."""

    name: ClassVar[str] = "debiased"

    temperature: float = 0.5
    positive_share: float = 0.1
    """The share of negatives that are of the query's own class (τ⁺); 0 is InfoNCE."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.positive_share < 1:
            raise UsageError(
                f"positive_share must be at least 0 and below 1, got {self.positive_share}"
            )

    def __call__(self, positive: Tensor, negatives: Sequence[Tensor]) -> Tensor:
        return debiased_loss(positive, negatives, self.temperature, self.positive_share)
