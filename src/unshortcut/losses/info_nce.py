"""InfoNCE, the loss of MoCo and SimCLR (equation 1 of the non-semantic-negatives paper)."""

from collections.abc import Sequence

import torch
from torch import Tensor

from unshortcut.fields import PositiveNumber
from unshortcut.losses.loss import ContrastiveLoss, in_float32
from unshortcut.parts import settings


def info_nce_loss(positive: Tensor, negatives: Sequence[Tensor], temperature: float) -> Tensor:
    """−log( exp(p/τ) / (exp(p/τ) + Σ_i Σ_k exp(n_ik/τ)) ) of each query.

    positive: (N,) similarity of each query to its positive.
    negatives: a list of (N, K_i) similarities, one tensor per source.
    Returns (N,).

    >>> info_nce_loss(torch.tensor([1.0]), [torch.tensor([[1.0, 1.0, 1.0]])], temperature=0.5)
    tensor([1.3863])
    """
    similarities = torch.cat([positive[:, None], *negatives], dim=1)
    logits = in_float32(similarities) / temperature
    return torch.logsumexp(logits, dim=1) - logits[:, 0]


@settings
class InfoNCE(ContrastiveLoss):
    """`info_nce_loss` with its temperature."""

    name = "info_nce"

    temperature: PositiveNumber = 0.2

    def __call__(self, positive: Tensor, negatives: Sequence[Tensor]) -> Tensor:
        return info_nce_loss(positive, negatives, self.temperature)
