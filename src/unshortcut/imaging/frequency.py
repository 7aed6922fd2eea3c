"""Low-pass and high-pass of images by a mask on their discrete Fourier transform.

The mask of size r keeps the frequencies (u, v), in cycles an image, around the mean (0, 0):
- square, of the side r: −r/2 ≤ u, v < r/2, the r × r coefficients in the middle of the shifted
  spectrum (dissertation, figure 2.8, where r is the side of the mask);
- round, of the diameter r: √(u² + v²) < r/2, so that it lies within the square of the same r. Wang
  et al. (2020, HaohanWang/HFC) state the radius, r/2 here.
So r = 1 keeps the mean alone, and a square as large as the image keeps all.

Each channel is masked for itself, and the real part of the inverse is the image. A high-pass has
what the low-pass has not: no mean, and as many samples below 0 as above. As images have none below
0, it stands on a mid-gray of 128, the same for all images, and so holds nothing of the mean color.
(HFC leaves the zero mean to the network; Geirhos et al. 2018 put the gray of an average image.)
"""

from functools import lru_cache
from typing import Literal, get_args

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import fft

from unshortcut.arrays import ImageArray

Shape = Literal["square", "round"]

SHAPES: tuple[Shape, ...] = get_args(Shape)
GRAY = 128
"""What a high-pass has instead of its mean."""


def low_pass(image: ImageArray, r: float, shape: Shape = "square") -> ImageArray:
    """The frequencies of a uint8 (h, w, 3) image within the mask, rounded and clipped to uint8."""
    return _filtered(image, mask(*_sides(image), r, shape), 0)


def high_pass(image: ImageArray, r: float, shape: Shape = "square") -> ImageArray:
    """Those beyond the mask, around a gray of 128, rounded and clipped to uint8."""
    return _filtered(image, 1 - mask(*_sides(image), r, shape), GRAY)


@lru_cache(maxsize=64)
def mask(height: int, width: int, r: float, shape: Shape = "square") -> NDArray[np.float32]:
    """(height, width // 2 + 1) weights for `rfft2` that stand for the mask of size r, at least 1.

    A coefficient whose mirror image (−u, −v) the mask does not hold has the weight 1/2: that is
    what taking the real part of the inverse makes of it.
    """
    if r < 1:
        raise ValueError(f"r must be at least 1, so that the mask holds the mean, not {r}")
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
    weights.setflags(write=False)  # shared by all who ask
    return weights


def _filtered(image: ImageArray, weights: NDArray[np.float32], level: int) -> ImageArray:
    height, width = _sides(image)
    planes = np.stack(cv2.split(image)).astype(np.float32)
    spectrum = fft.rfft2(planes)
    spectrum *= weights
    kept = fft.irfft2(spectrum, s=(height, width))
    return np.asarray(
        np.clip(np.rint(kept + level), 0, 255).astype(np.uint8).transpose(1, 2, 0), order="C"
    )


def _sides(image: ImageArray) -> tuple[int, int]:
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        raise ValueError(f"the image must be uint8 (h, w, 3), not {image.dtype} {image.shape}")
    return image.shape[0], image.shape[1]
