"""Errors of predicted patches: pixels of hidden ones (MAE), noise of visible ones (CAN)."""

from torch import Tensor
from torch.nn import functional as F

from unshortcut.imaging.patches import standardize, take


def pixel_error(
    predicted: Tensor, patches: Tensor, hidden: Tensor, *, standardized: bool
) -> Tensor:
    """Mean squared error of the hidden patches, a scalar (MAE, section 3).

    predicted: (N, H, P), of the patches at the indices hidden (N, H).
    patches: (N, L, P), of the clean image.
    standardized: whether each target patch has mean 0 and variance 1.
    """
    target = take(patches, hidden)
    return F.mse_loss(predicted, standardize(target) if standardized else target)


def noise_error(predicted: Tensor, noise: Tensor, visible: Tensor) -> Tensor:
    """Mean squared error of the noise that was added to the visible patches, a scalar (CAN).

    predicted: (N, V, P), of the patches at the indices visible (N, V).
    noise: (N, L, P), of all patches.
    """
    return F.mse_loss(predicted, take(noise, visible))
