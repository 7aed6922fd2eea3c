"""Implicit feature modification: InfoNCE and its adversarial version (Robinson et al., 2021)."""

from collections.abc import Sequence

from torch import Tensor

from unshortcut.fields import NonNegativeNumber, PositiveNumber
from unshortcut.losses.info_nce import info_nce_loss
from unshortcut.losses.loss import ContrastiveLoss, in_float32
from unshortcut.parts import settings


def ifm_loss(
    positive: Tensor, negatives: Sequence[Tensor], temperature: float, epsilon: float
) -> Tensor:
    """The mean of InfoNCE and of InfoNCE with positives p − ε and negatives n_ik + ε.

    positive: (N,) similarity of each query to its positive.
    negatives: a list of (N, K_i) similarities, one tensor per source.
    Returns (N,).

    >>> import torch
    >>> ifm_loss(torch.tensor([1.0]), [torch.tensor([[0.0]])], temperature=1.0, epsilon=0.5)
    tensor([0.5032])
    """
    # InfoNCE does not change if ε is subtracted from all similarities: then n + ε becomes n.
    harder = info_nce_loss(in_float32(positive) - 2 * epsilon, negatives, temperature)
    return (info_nce_loss(positive, negatives, temperature) + harder) / 2


@settings
class IFM(ContrastiveLoss):
    """`ifm_loss` with its settings; the defaults are those of the official code on ImageNet-100."""

    name = "ifm"

    temperature: PositiveNumber = 0.2
    epsilon: NonNegativeNumber = 0.1
    """Change of the similarities before the division by the temperature; 0 is InfoNCE."""

    def __call__(self, positive: Tensor, negatives: Sequence[Tensor]) -> Tensor:
        return ifm_loss(positive, negatives, self.temperature, self.epsilon)
