"""Weather: snow, frost, fog and brightness."""

import math
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import FloatArray, ImageArray
from unshortcut.imaging.corruptions._frost import WINDOWS, frosted_window
from unshortcut.imaging.corruptions._motion import smeared
from unshortcut.imaging.corruptions._resample import zoomed
from unshortcut.imaging.corruptions.corruption import compiled
from unshortcut.imaging.corruptions.severities import Parameters
from unshortcut.randomness import Rng


class SnowSample(NamedTuple):
    """Sampled parameters of snow."""

    flakes: FloatArray
    """(h, w): standard normal values, whose center is zoomed to the size of the image."""
    degrees: float
    """The direction in which the flakes fall."""


def sample_snow(rng: Rng, height: int, width: int, parameters: Parameters) -> SnowSample:
    """Sample flakes that fall within 45 degrees of vertical."""
    return SnowSample(rng.standard_normal((height, width), np.float32), rng.uniform(-135, -45))


def snow(image: ImageArray, parameters: Parameters, sampled: SnowSample) -> ImageArray:
    """Whiten the image and add streaks of flakes, once as they are and once rotated by 180 degrees.

    In the published images, ImageMagick makes the streaks and rounds them to integers before and
    after; here they are rounded once, after.
    """
    mean, deviation, zoom, least, radius, sigma, share = parameters
    height, width = image.shape[:2]
    flakes = zoomed(mean + deviation * sampled.flakes.astype(np.float64), zoom)
    flakes[flakes < least] = 0
    np.clip(flakes, 0, 1, out=flakes)
    streaks = smeared(flakes[..., None], radius, sigma, sampled.degrees)[:height, :width, 0]
    pixels = image.astype(np.float32) / 255.0
    out = np.empty(image.shape, np.uint8)
    _snowed(
        pixels,
        cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY),
        np.round(streaks * 255) / 255.0,
        np.float32(share),
        np.float32(1 - share),
        out,
    )
    return out


class FrostSample(NamedTuple):
    """Sampled parameters of frost."""

    number: int
    """Index of the frosted window."""
    top: float
    """Vertical position of the image on the window, 0 (top) to 1 (bottom)."""
    left: float
    """Horizontal position of the image on the window, 0 (left) to 1 (right)."""


def sample_frost(rng: Rng, height: int, width: int, parameters: Parameters) -> FrostSample:
    """Sample a frosted window and a position on it."""
    return FrostSample(int(rng.integers(WINDOWS)), rng.random(), rng.random())


def frost(image: ImageArray, parameters: Parameters, sampled: FrostSample) -> ImageArray:
    """Weighted sum of the image and a crop of a frosted window.

    The windows are synthetic (see `_frost`), with the tones of the photographs used for the
    published images; one that is smaller than the image is enlarged.
    """
    keep, weight, scale = parameters
    height, width = image.shape[:2]
    ice = frosted_window(sampled.number, scale)
    growth = max(height / ice.shape[0], width / ice.shape[1])
    if growth > 1:
        size = (math.ceil(ice.shape[1] * growth), math.ceil(ice.shape[0] * growth))
        ice = cv2.resize(ice, size, interpolation=cv2.INTER_CUBIC)
    top = int(sampled.top * (ice.shape[0] - height + 1))
    left = int(sampled.left * (ice.shape[1] - width + 1))
    out = np.empty(image.shape, np.uint8)
    _blend(image, ice[top : top + height, left : left + width], keep, weight, out)
    return out


def sample_fog(rng: Rng, height: int, width: int, parameters: Parameters) -> NDArray[np.float64]:
    """(n² - 1,) values from -1 to 1 for an n × n map, n the next power of 2 above the sides."""
    side = 1 << (max(height, width) - 1).bit_length()
    return rng.uniform(-1, 1, side * side - 1)


def fog(image: ImageArray, parameters: Parameters, sampled: NDArray[np.float64]) -> ImageArray:
    """Add a cloud (a plasma fractal, by the diamond-square algorithm) and rescale to the range."""
    weight, decay = parameters
    height, width = image.shape[:2]
    cloud = _plasma(round((sampled.size + 1) ** 0.5), decay, sampled)
    cloud -= cloud.min()
    cloud = weight * (cloud / cloud.max())[:height, :width]
    brightest = image.max() / 255.0
    out = np.empty(image.shape, np.uint8)
    _fogged(image, cloud, brightest, brightest + weight, out)
    return out


def brightness(image: ImageArray, parameters: Parameters, sampled: None) -> ImageArray:
    """Add a constant to the value channel of HSV."""
    (added,) = parameters
    out = np.empty(image.shape, np.uint8)
    _brightened(image.reshape(-1, 3), added, out.reshape(-1, 3))
    return out


@compiled
def _cut(value):  # type: ignore[no-untyped-def]
    return np.uint8(np.int32(min(max(value, 0.0), 1.0) * 255.0))


@compiled
def _snowed(pixels, gray, streaks, share, rest, out):  # type: ignore[no-untyped-def]
    height, width, channels = pixels.shape
    for y in range(height):
        for x in range(width):
            white = gray[y, x] * np.float32(1.5) + np.float32(0.5)
            streak, rotated = streaks[y, x], streaks[height - 1 - y, width - 1 - x]
            for c in range(channels):
                whitened = share * pixels[y, x, c] + rest * max(pixels[y, x, c], white)
                out[y, x, c] = _cut(whitened + streak + rotated)


@compiled
def _blend(image, ice, keep, weight, out):  # type: ignore[no-untyped-def]
    height, width, channels = image.shape
    for y in range(height):
        for x in range(width):
            for c in range(channels):
                value = keep * image[y, x, c] + weight * ice[y, x, c]
                out[y, x, c] = np.uint8(np.int32(min(max(value, 0.0), 255.0)))


@compiled
def _fogged(image, cloud, brightest, most, out):  # type: ignore[no-untyped-def]
    height, width, channels = image.shape
    for y in range(height):
        for x in range(width):
            for c in range(channels):
                out[y, x, c] = _cut((image[y, x, c] / 255.0 + cloud[y, x]) * brightest / most)


@compiled
def _plasma(side, decay, noise):  # type: ignore[no-untyped-def]
    """(side, side) heights on a torus by the diamond-square algorithm, halving the step."""
    heights = np.zeros((side, side))
    step, wobble, used = side, 100.0, 0
    while step >= 2:
        half, count = step // 2, side // step
        # The center of each square, from its four corners; then the middles of its upper and its
        # left edge, from the ends of the edge and the centers of the two squares that share it. The
        # centers of all squares are needed first, hence three passes.
        for part in range(3):
            for i in range(count):
                y, below = i * step, (i + 1) % count * step
                middle, above = y + half, (i - 1) % count * step + half
                for j in range(count):
                    x, right = j * step, (j + 1) % count * step
                    center, before = x + half, (j - 1) % count * step + half
                    if part == 0:
                        total = heights[y, x] + heights[below, x]
                        total += heights[y, right] + heights[below, right]
                        row, column = middle, center
                    elif part == 1:
                        total = heights[middle, center] + heights[above, center]
                        total += heights[y, x] + heights[y, right]
                        row, column = y, center
                    else:
                        total = heights[middle, center] + heights[middle, before]
                        total += heights[y, x] + heights[below, x]
                        row, column = middle, x
                    # The published code multiplies by the wobble twice.
                    heights[row, column] = total / 4 + wobble * (wobble * noise[used])
                    used += 1
        step = half
        wobble /= decay
    return heights


@compiled
def _brightened(image, added, out):  # type: ignore[no-untyped-def]
    """Convert to HSV, raise the value and convert back, as scikit-image does, to the last bit."""
    for i in range(image.shape[0]):
        r, g, b = image[i, 0] / 255.0, image[i, 1] / 255.0, image[i, 2] / 255.0
        value = max(r, max(g, b))
        chroma = value - min(r, min(g, b))
        raised = min(max(value + added, 0.0), 1.0)
        if chroma == 0.0:
            out[i, 0] = out[i, 1] = out[i, 2] = _cut(raised)
            continue
        if b == value:
            hue = 4.0 + (r - g) / chroma
        elif g == value:
            hue = 2.0 + (b - r) / chroma
        else:
            hue = (g - b) / chroma
        saturation = chroma / value
        sixths = hue / 6.0 % 1.0 * 6
        sector = np.floor(sixths)
        part = sixths - sector
        high, low = _cut(raised), _cut(raised * (1 - saturation))
        falling = _cut(raised * (1 - part * saturation))
        rising = _cut(raised * (1 - (1 - part) * saturation))
        where = int(sector) % 6
        if where == 0:
            out[i, 0], out[i, 1], out[i, 2] = high, rising, low
        elif where == 1:
            out[i, 0], out[i, 1], out[i, 2] = falling, high, low
        elif where == 2:
            out[i, 0], out[i, 1], out[i, 2] = low, high, rising
        elif where == 3:
            out[i, 0], out[i, 1], out[i, 2] = low, falling, high
        elif where == 4:
            out[i, 0], out[i, 1], out[i, 2] = rising, low, high
        else:
            out[i, 0], out[i, 1], out[i, 2] = high, low, falling
