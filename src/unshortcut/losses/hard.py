"""InfoNCE in which hard negatives weigh more (Robinson et al., 2021); debiased as well."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from unshortcut.errors import UsageError
from unshortcut.losses.debiased import Debiased, without_positives


def hard_loss(
    positive: Tensor,
    negatives: Sequence[Tensor],
    temperature: float,
    positive_share: float,
    beta: float,
) -> Tensor:
    """`debiased` with Σ_k e^(n_k/τ) reweighed: Σ_k w_k e^(n_k/τ), w_k = e^(β n_k/τ) / its mean.

    positive: (N,) similarity of each query to its positive.
    negatives: a list of (N, K_i) similarities, one a source.
    Returns (N,). The weights take a gradient too, as in the official code.

    >>> hard_loss(torch.tensor([1.0]), [torch.tensor([[1.0, -1.0]])], 1.0, 0.0, beta=1.0)
    tensor([1.0274])
    """
    logits = torch.cat(list(negatives), dim=1) / temperature
    count = logits.shape[1]
    mean_weight = torch.logsumexp(beta * logits, dim=1) - math.log(count)
    log_sum = torch.logsumexp((1 + beta) * logits, dim=1) - mean_weight
    return without_positives(positive, log_sum, count, temperature, positive_share)


@dataclass(frozen=True)
class Hard(Debiased):
    """`hard_loss` with its settings; those of the official code, by default."""

    name: ClassVar[str] = "hard"

    beta: float = 1.0
    """How much more the harder negatives weigh; at 0 all weigh the same."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.beta < 0:
            raise UsageError(f"beta must be at least 0, got {self.beta}")

    def __call__(self, positive: Tensor, negatives: Sequence[Tensor]) -> Tensor:
        return hard_loss(positive, negatives, self.temperature, self.positive_share, self.beta)
