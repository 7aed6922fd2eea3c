"""The squared distance of unit vectors, the loss of BYOL (equation 2 of the NSN paper)."""

from collections.abc import Sequence

from torch import Tensor

from unshortcut.errors import UsageError
from unshortcut.losses.loss import Loss, Placement, in_float32
from unshortcut.parts import settings


def squared_distance_loss(positive: Tensor, negatives: Sequence[Tensor]) -> Tensor:
    """‖q − p‖² − Σ_i Σ_k ‖q − n_ik‖² of each query, computed from similarities of unit vectors.

    positive: (N,) similarity of each query to its positive.
    negatives: a list of (N, K_i) similarities, one tensor per source.
    Returns (N,). Equation 2 prints norms, but its expansion is that of their squares.

    >>> import torch
    >>> squared_distance_loss(torch.tensor([1.0]), [torch.tensor([[0.5]])])
    tensor([-1.])
    """
    loss = 2 - 2 * in_float32(positive)
    for similarities in negatives:
        loss = loss - (2 - 2 * in_float32(similarities)).sum(dim=1)
    return loss


@settings
class SquaredDistance(Loss):
    """`squared_distance_loss`; alpha is the weight of a negative's distance."""

    name = "squared_distance"

    def __call__(self, positive: Tensor, negatives: Sequence[Tensor]) -> Tensor:
        return squared_distance_loss(positive, negatives)

    def weigh(self, similarities: Tensor, alpha: float, placement: Placement) -> Tensor:
        """1 − α(1 − s), for which 2 − 2 (1 − α(1 − s)) = α(2 − 2s)."""
        if placement != "inside":
            raise UsageError(
                "placement 'outside' needs a loss with an exponential; squared_distance has none "
                "and weights the distance itself"
            )
        return 1 - alpha * (1 - in_float32(similarities))
