"""Blur: defocus, frosted glass, motion and zoom."""

from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import FloatArray, ImageArray
from unshortcut.imaging.corruptions._motion import smeared
from unshortcut.imaging.corruptions._resample import gaussian, sum_of_zooms
from unshortcut.imaging.corruptions.corruption import compiled, levels
from unshortcut.imaging.corruptions.severities import Parameters
from unshortcut.randomness import Rng


def defocus_blur(image: ImageArray, parameters: Parameters, sampled: None) -> ImageArray:
    """Mean over a disk with a soft edge."""
    blurred = cv2.filter2D(image / 255.0, -1, _disc(*parameters))
    return levels(blurred)


def sample_glass_blur(
    rng: Rng, height: int, width: int, parameters: Parameters
) -> NDArray[np.int8]:
    """(rounds, h - 2 reach, w - 2 reach, 2): the offset to the right and down of each pixel's
    source, -reach to reach - 1, in the order in which pixels are visited."""
    _, reach, rounds = (int(number) for number in parameters)
    shape = (rounds, max(0, height - 2 * reach), max(0, width - 2 * reach), 2)
    return rng.integers(-reach, reach, shape, np.int8)


def glass_blur(image: ImageArray, parameters: Parameters, sampled: NDArray[np.int8]) -> ImageArray:
    """Blur, replace every pixel by one near it, blur again.

    The published code intends to swap the two pixels but copies one over the other, because NumPy's
    rows are views. The published images were made in this way, and so are these.
    """
    sigma, reach, _ = parameters
    softened = levels(gaussian(image / 255.0, sigma, 4, "edge"))
    _shuffle(softened, int(reach), sampled)
    return levels(gaussian(softened / 255.0, sigma, 4, "edge"))


def sample_motion_blur(rng: Rng, height: int, width: int, parameters: Parameters) -> float:
    """Direction in degrees."""
    return rng.uniform(-45, 45)


def motion_blur(image: ImageArray, parameters: Parameters, sampled: float) -> ImageArray:
    """Blur along a line in the sampled direction."""
    radius, sigma = parameters
    return np.clip(smeared(image, radius, sigma, sampled), 0, 255).astype(np.uint8)


def zoom_blur(image: ImageArray, parameters: Parameters, sampled: None) -> ImageArray:
    """Mean of the image and of its zooms by increasing factors."""
    end, step = parameters
    factors = np.arange(1, end, step)
    sharp = (image / 255.0).astype(np.float32)
    total = sum_of_zooms(sharp, tuple(factors.tolist()))
    total += sharp
    total /= len(factors) + 1
    return levels(total)


@lru_cache(maxsize=32)
def _disc(radius: float, softness: float) -> FloatArray:
    half, side = (8, 3) if radius <= 8 else (int(radius), 5)
    offsets = np.arange(-half, half + 1)
    disc = (offsets**2 + offsets[:, None] ** 2 <= radius**2).astype(np.float32)
    disc /= disc.sum()
    return np.asarray(cv2.GaussianBlur(disc, (side, side), softness), np.float32)


@compiled
def _shuffle(image, reach, offsets):  # type: ignore[no-untyped-def]
    height, width, channels = image.shape
    rounds, rows, columns, _ = offsets.shape
    for i in range(rounds):
        for j in range(rows):
            y = height - reach - j
            for k in range(columns):
                x = width - reach - k
                right, below = offsets[i, j, k, 0], offsets[i, j, k, 1]
                for c in range(channels):
                    image[y, x, c] = image[y + below, x + right, c]
