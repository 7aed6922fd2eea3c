"""Convert uint8 images to normalized float32 in one pass on the CPU.

Training moves uint8 to the device and normalizes there; benchmarks against libraries that return
normalized float32 need this.
"""

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray


def to_float(
    images: NDArray[np.uint8], mean: Sequence[float], std: Sequence[float]
) -> NDArray[np.float32]:
    """Convert uint8 (n, h, w, 3) to float32 (n, 3, h, w): (value / 255 - mean) / std."""
    count, height, width, _ = images.shape
    planes: NDArray[np.float32] = _to_planes(
        np.ascontiguousarray(images).reshape(count, -1),
        tuple(np.float32(1 / (255 * deviation)) for deviation in std),
        tuple(np.float32(-center / deviation) for center, deviation in zip(mean, std, strict=True)),
    )
    return planes.reshape(count, 3, height, width)


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _to_planes(flat, scale, shift):  # type: ignore[no-untyped-def]
    pixels = flat.shape[1] // 3
    out = np.empty((flat.shape[0], 3, pixels), np.float32)
    for image in range(flat.shape[0]):
        # A loop over all three channels would not be vectorized and take three times as long.
        for channel in range(3):
            samples = flat[image, channel:]
            plane = out[image, channel]
            factor, offset = scale[channel], shift[channel]
            for i in range(pixels):
                plane[i] = factor * np.float32(samples[3 * i]) + offset
    return out
