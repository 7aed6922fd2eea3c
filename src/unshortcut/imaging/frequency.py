"""Low-pass and high-pass filters that mask the discrete Fourier transform of an image.

The mask of size r keeps the frequencies (u, v), in cycles per image, around the mean (0, 0):
- square with side r: −r/2 ≤ u, v < r/2, the r × r coefficients in the center of the shifted
  spectrum (dissertation, figure 2.8, where r is the side of the mask);
- round with diameter r: √(u² + v²) < r/2, which lies inside the square of the same r. Wang et al.
  (2020, HaohanWang/HFC) state the radius, here r/2.
So r = 1 keeps only the mean, and a square as large as the image keeps everything.

Each channel is masked separately; the result is the real part of the inverse transform. A high-pass
keeps the remaining frequencies, so its mean is 0. As images have no negative values, the gray level
128 is added, the same for all images, and the result contains nothing of the mean color.
(HFC passes the zero-mean image to the network; Geirhos et al. 2018 add the mean of all images.)
"""

from functools import lru_cache
from typing import Literal, get_args

import cv2
import numpy as np
from scipy import fft

from unshortcut.arrays import FloatArray, ImageArray

Shape = Literal["square", "round"]

SHAPES: tuple[Shape, ...] = get_args(Shape)
GRAY = 128
"""The mean of a high-pass image."""


def low_pass(image: ImageArray, r: float, shape: Shape = "square") -> ImageArray:
    """Keep the frequencies of a uint8 (h, w, 3) image inside the mask; round and clip to uint8."""
    return _filtered(image, frequency_mask(*_sides(image), r, shape), 0)


def high_pass(image: ImageArray, r: float, shape: Shape = "square") -> ImageArray:
    """Keep the frequencies outside the mask and add 128; round and clip to uint8."""
    return _filtered(image, 1 - frequency_mask(*_sides(image), r, shape), GRAY)


@lru_cache(maxsize=64)
def frequency_mask(height: int, width: int, r: float, shape: Shape = "square") -> FloatArray:
    """(height, width // 2 + 1) weights for `rfft2` that are equivalent to the mask of size r.

    A coefficient inside the mask whose mirror image (−u, −v) is outside has the weight 1/2, which
    is the effect of taking the real part of the inverse transform.
    """
    if r < 1:
        raise ValueError(f"r must be at least 1, so that the mask contains the mean, not {r}")
    if shape not in SHAPES:
        raise ValueError(f"the mask's shape must be one of {', '.join(SHAPES)}, not {shape!r}")
    down, across = (np.fft.fftfreq(side, 1 / side).round() for side in (height, width))
    u, v = down[:, None], across[None, :]
    if shape == "square":
        half = r / 2
        held = (-half <= u) & (u < half) & (-half <= v) & (v < half)
    else:
        held = np.hypot(u, v) < r / 2
    mirrored = held[-np.arange(height)][:, -np.arange(width)]
    weights = np.asarray((held * 0.5 + mirrored * 0.5)[:, : width // 2 + 1], dtype=np.float32)
    weights.setflags(write=False)  # the cached array is shared by all callers
    return weights


def _filtered(image: ImageArray, weights: FloatArray, level: int) -> ImageArray:
    height, width = _sides(image)
    planes = np.stack(cv2.split(image)).astype(np.float32)
    spectrum = fft.rfft2(planes)
    spectrum *= weights
    kept = np.rint(fft.irfft2(spectrum, s=(height, width)) + level)
    return np.asarray(kept.clip(0, 255).astype(np.uint8).transpose(1, 2, 0), order="C")


def _sides(image: ImageArray) -> tuple[int, int]:
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        raise ValueError(f"the image must be uint8 (h, w, 3), not {image.dtype} {image.shape}")
    return image.shape[0], image.shape[1]
