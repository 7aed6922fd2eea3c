"""Motion blur as defined by ImageMagick: a mean of pixels along a line with Gaussian weights."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import IndexArray
from unshortcut.imaging.corruptions.corruption import compiled


def smeared(
    image: NDArray[Any], radius: float, sigma: float, degrees: float
) -> NDArray[np.float64]:
    """Replace each pixel of (h, w, c) by a weighted mean of the pixels on a line that starts there.

    The line has 2 radius + 1 pixels, with Gaussian weights; borders are replicated. (The package
    `imagecorruptions` stops at the border instead, which darkens images smaller than the line.)
    """
    steps = np.arange(int(radius) * 2 + 1)
    weights = np.exp(-(steps**2) / (2 * sigma**2)) / (math.sqrt(2 * math.pi) * sigma)
    weights = weights / weights.sum()
    down = _offsets(steps, math.sin(math.radians(degrees)))
    across = _offsets(steps, math.cos(math.radians(degrees)))
    top, left = max(0, -int(down.min())), max(0, -int(across.min()))
    margins = ((top, max(0, int(down.max()))), (left, max(0, int(across.max()))), (0, 0))
    padded = np.pad(image, margins, "edge")
    height, width, channels = image.shape
    rows = padded.reshape(padded.shape[0], -1)
    out = np.zeros((height, width * channels))
    _add_shifted(rows, down + top, (across + left) * channels, weights, out)
    return out.reshape(image.shape)


def _offsets(steps: IndexArray, slope: float) -> IndexArray:
    """Offsets along one axis in whole pixels."""
    length = steps.size
    # Computed from the end point of the line, so that rounding agrees with ImageMagick.
    return np.ceil(steps * (length * slope) / length - 0.5).astype(np.int64)


@compiled
def _add_shifted(rows, down, across, weights, out):  # type: ignore[no-untyped-def]
    for y in range(out.shape[0]):
        total = out[y]
        for i in range(weights.size):
            weight, source = weights[i], rows[y + down[i], across[i] :]
            for x in range(total.size):
                total[x] += weight * source[x]
