"""Conversion of tensors from RGB to CIE Lab, which separates lightness from color."""

import torch
from torch import Tensor

WHITE = (0.95047, 1.0, 1.08883)
"""X, Y, Z of the D65 white point."""
LOW = (0.0, -86.183, -107.857)
HIGH = (100.0, 98.233, 94.478)
"""The ranges of L, a and b for all sRGB colors."""

_TO_XYZ = (
    (0.412453, 0.357580, 0.180423),
    (0.212671, 0.715160, 0.072169),
    (0.019334, 0.119193, 0.950227),
)
_KNEE = (6 / 29) ** 3


def rgb_to_lab(images: Tensor) -> Tensor:
    """Convert sRGB (N, 3, H, W) in 0..1 to L (0 to 100), a and b (about -108 to 98)."""
    # Both curves are a power function above a knee and linear below. The power is computed
    # everywhere; the clamps prevent infinite gradients in the linear part.
    linear = torch.where(
        images > 0.04045, ((images.clamp(min=0.04045) + 0.055) / 1.055) ** 2.4, images / 12.92
    )
    red, green, blue = linear.unbind(dim=1)
    # Not a matrix product, which mixed precision would compute in half precision.
    xyz = torch.stack(
        [
            (r * red + g * green + b * blue) / white
            for (r, g, b), white in zip(_TO_XYZ, WHITE, strict=True)
        ],
        dim=1,
    )
    f = torch.where(xyz > _KNEE, xyz.clamp(min=_KNEE) ** (1 / 3), xyz * (29 / 6) ** 2 / 3 + 4 / 29)
    x, y, z = f.unbind(dim=1)
    return torch.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], dim=1)


def scaled_lab(images: Tensor) -> Tensor:
    """Like `rgb_to_lab`, with the range of each channel scaled to -1..1."""
    low, high = (images.new_tensor(ends).view(1, 3, 1, 1) for ends in (LOW, HIGH))
    return (rgb_to_lab(images) - low) * (2 / (high - low)) - 1
