"""The error of predicted pixels of hidden patches (MAE, CAN)."""

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
