"""Debiased InfoNCE, which accounts for negatives of the query's own class (Chuang et al., 2020)."""

import math
from collections.abc import Sequence
from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor

from unshortcut.fields import Number, PositiveNumber
from unshortcut.losses.loss import ContrastiveLoss, in_float32
from unshortcut.parts import settings


def debiased_loss(
    positive: Tensor, negatives: Sequence[Tensor], temperature: float, positive_share: float
) -> Tensor:
    """−log( e^(p/τ) / (e^(p/τ) + G) ), with G the sum over K negatives corrected for positives.

    G = max[ (Σ_k e^(n_k/τ) − τ⁺·K·e^(p/τ)) / (1 − τ⁺), K·e^(−1/τ) ]

    positive: (N,) similarity of each query to its positive.
    negatives: a list of (N, K_i) similarities, one tensor per source; K is the sum of the K_i.
    positive_share: τ⁺, the fraction of negatives that belong to the query's own class.
    Returns (N,).

    >>> debiased_loss(torch.tensor([1.0]), [torch.tensor([[0.0, 0.0]])], 1.0, positive_share=0.1)
    tensor([0.4671])
    """
    logits = in_float32(torch.cat(list(negatives), dim=1)) / temperature
    return without_positives(
        positive, torch.logsumexp(logits, dim=1), logits.shape[1], temperature, positive_share
    )


def without_positives(
    positive: Tensor, log_sum: Tensor, count: int, temperature: float, positive_share: float
) -> Tensor:
    """The loss (N,) from log_sum (N,), which is log Σ_k e^(n_k/τ) over `count` negatives.

    The sum may be reweighted. All is computed in logarithms, because at low temperatures the
    exponentials exceed the range of float32.
    """
    logit = in_float32(positive) / temperature
    # log of the fraction of the sum that is expected to come from positives; 0 is all of it.
    log_share = torch.full_like(logit, positive_share).log() + math.log(count) + logit - log_sum
    below_zero = -torch.finfo(log_share.dtype).tiny
    rest = log_sum + torch.log(-torch.expm1(log_share.clamp(max=below_zero)))
    lowest = math.log(count) - 1 / temperature  # similarities are at least -1
    log_negatives = (rest - math.log1p(-positive_share)).clamp(min=lowest)
    return torch.logaddexp(logit, log_negatives) - logit


@settings
class Debiased(ContrastiveLoss):
    """`debiased_loss` with its settings; the defaults are those of the official code."""

    name = "debiased"

    temperature: PositiveNumber = 0.5
    positive_share: Annotated[Number, Field(ge=0, lt=1)] = 0.1
    """The fraction of negatives that belong to the query's own class (τ⁺); 0 is InfoNCE."""

    def __call__(self, positive: Tensor, negatives: Sequence[Tensor]) -> Tensor:
        return debiased_loss(positive, negatives, self.temperature, self.positive_share)
