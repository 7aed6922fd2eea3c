"""Errors of predicted patches: pixels of hidden ones (MAE), noise of visible ones (CAN)."""

from torch import Tensor
from torch.nn import functional as F

from unshortcut.imaging.patches import standardize, take


def pixel_error(
    predicted: Tensor, patches: Tensor, hidden: Tensor, *, standardized: bool
) -> Tensor:
    """Mean squared error of the hidden patches, a scalar (MAE, section 3).

    predicted, patches: (N, L, P), the second of the clean image. hidden: (N, H) indices.
    standardized: whether each target patch has mean 0 and variance 1.
    """
    target = take(patches, hidden)
    return F.mse_loss(take(predicted, hidden), standardize(target) if standardized else target)


def noise_error(predicted: Tensor, noise: Tensor, visible: Tensor) -> Tensor:
    """Mean squared error of the noise that was added to the visible patches, a scalar (CAN).

    predicted, noise: (N, L, P). visible: (N, V) indices.
    """
    return F.mse_loss(take(predicted, visible), take(noise, visible))
