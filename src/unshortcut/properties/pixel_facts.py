"""What the pixels of an image amount to: a few numbers at one size, and a perceptual hash."""

from typing import NamedTuple

import cv2
import numpy as np
from numba import njit
from numpy.typing import NDArray

from unshortcut.arrays import ImageArray

SIDE = 128
"""Side of the image that is measured; at one size, sharpness and borders can be compared."""
BORDER = 4
"""Width of the border that is measured, in pixels of that image."""
_GRAY = 16
"""Difference of channels up to which a pixel counts as gray, compression included."""
_HASHED = 32
_FREQUENCIES = 8
_NAMES = (
    "brightness", "contrast", "red", "green", "blue", "saturation", "grayness",
    "border_brightness", "border_contrast",
)  # fmt: skip
PIXEL_NAMES = (*_NAMES, "sharpness")


class PixelFacts(NamedTuple):
    """Numbers of one image."""

    values: NDArray[np.float64]  # in the order of `PIXEL_NAMES`
    hash: int
    """64 bits that change little if the image does."""
    mirrored: int
    """The hash of the image after a horizontal flip."""


def pixel_facts(pixels: ImageArray) -> PixelFacts:
    """Measure an image of `SIDE` × `SIDE` pixels."""
    gray = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    values = np.empty(len(PIXEL_NAMES))
    _measure(pixels, gray, values)
    values[-1] = cv2.meanStdDev(cv2.Laplacian(gray, cv2.CV_32F))[1].item() ** 2
    return PixelFacts(values, *perceptual_hash(gray))


def perceptual_hash(gray: NDArray[np.uint8]) -> tuple[int, int]:
    """The hash of a gray image (h, w), and that of the same image flipped horizontally.

    The bits are the signs, relative to their median, of the 8 × 8 lowest frequencies of the cosine
    transform of the image at 32 × 32 pixels. A flip changes the sign of every second column.
    """
    small = cv2.resize(gray, (_HASHED, _HASHED), interpolation=cv2.INTER_AREA)
    waves = cv2.dct(small.astype(np.float32))[:_FREQUENCIES, :_FREQUENCIES]
    waves[0, 0] = 0  # the brightness, which copies often change
    flipped = waves * (1 - 2 * (np.arange(_FREQUENCIES) % 2))
    return _bits(waves), _bits(flipped)


def _bits(waves: NDArray[np.float32]) -> int:
    bits = waves.ravel() > np.median(waves)
    return int.from_bytes(np.packbits(bits).tobytes(), "big")


@njit(cache=True, nogil=True)
def _measure(pixels, gray, values):  # type: ignore[no-untyped-def]
    """Everything but sharpness in one pass; `values` are those of `_NAMES`."""
    height, width = gray.shape
    red = green = blue = light = squares = saturation = colorless = 0.0
    edge = edge_squares = 0.0
    edges = 0
    for y in range(height):
        for x in range(width):
            r, g, b = pixels[y, x, 0], pixels[y, x, 1], pixels[y, x, 2]
            red += r
            green += g
            blue += b
            high, low = max(r, g, b), min(r, g, b)
            if high > 0:
                saturation += (high - low) / high
            if high - low <= _GRAY:
                colorless += 1
            level = float(gray[y, x])
            light += level
            squares += level * level
            if y < BORDER or y >= height - BORDER or x < BORDER or x >= width - BORDER:
                edge += level
                edge_squares += level * level
                edges += 1
    count = height * width
    mean, edge_mean = light / count, edge / edges
    values[0] = mean / 255
    values[1] = np.sqrt(max(0.0, squares / count - mean * mean)) / 255
    values[2] = red / count / 255
    values[3] = green / count / 255
    values[4] = blue / count / 255
    values[5] = saturation / count
    values[6] = colorless / count
    values[7] = edge_mean / 255
    values[8] = np.sqrt(max(0.0, edge_squares / edges - edge_mean * edge_mean)) / 255
