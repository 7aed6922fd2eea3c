"""Debiased InfoNCE with larger weights for hard negatives (Robinson et al., 2021)."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from unshortcut.fields import NonNegativeNumber
from unshortcut.losses.debiased import Debiased, without_positives
from unshortcut.losses.loss import in_float32
from unshortcut.parts import settings


def hard_loss(
    positive: Tensor,
    negatives: Sequence[Tensor],
    temperature: float,
    positive_share: float,
    beta: float,
) -> Tensor:
    """`debiased_loss` with the sum Σ_k w_k e^(n_k/τ), where w_k = e^(β n_k/τ) / its mean.

    positive: (N,) similarity of each query to its positive.
    negatives: a list of (N, K_i) similarities, one tensor per source.
    Returns (N,). Gradients flow through the weights too, as in the official code.

    >>> hard_loss(torch.tensor([1.0]), [torch.tensor([[1.0, -1.0]])], 1.0, 0.0, beta=1.0)
    tensor([1.0274])
    """
    logits = in_float32(torch.cat(list(negatives), dim=1)) / temperature
    count = logits.shape[1]
    mean_weight = torch.logsumexp(beta * logits, dim=1) - math.log(count)
    log_sum = torch.logsumexp((1 + beta) * logits, dim=1) - mean_weight
    return without_positives(positive, log_sum, count, temperature, positive_share)


@settings
class Hard(Debiased):
    """`hard_loss` with its settings; the defaults are those of the official code."""

    name = "hard"

    beta: NonNegativeNumber = 1.0
    """How strongly hard negatives are emphasized; with 0, all have the same weight."""

    def __call__(self, positive: Tensor, negatives: Sequence[Tensor]) -> Tensor:
        return hard_loss(positive, negatives, self.temperature, self.positive_share, self.beta)
