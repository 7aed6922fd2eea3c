"""Color adjustments of uint8 (h, w, 3) images: a fused kernel for jitter and gray, and solarizing.

The arithmetic is that of Pillow's image enhancers, which torchvision's transforms call: every
step rounds down to 0..255, contrast uses the mean gray level of the image after the steps before
it, and hue is changed in 8-bit HSV.
"""

from collections.abc import Sequence
from enum import IntEnum

import cv2
import numpy as np
from numba import njit

from unshortcut.arrays import ImageArray


class ColorStep(IntEnum):
    """The steps of `adjust`; the amounts are torchvision's factors."""

    BRIGHTNESS = 0
    """Amount 1 changes nothing, 0 gives black."""
    CONTRAST = 1
    """Amount 1 changes nothing, 0 gives the mean gray level everywhere."""
    SATURATION = 2
    """Amount 1 changes nothing, 0 gives gray."""
    HUE = 3
    """Amount as a fraction of the color circle, -0.5 to 0.5; 0 changes nothing."""
    GRAY = 4
    """The amount is not used."""


def adjust(image: ImageArray, steps: Sequence[tuple[ColorStep, float]]) -> ImageArray:
    """Apply color steps to a copy of the image, in the given order."""
    if not steps:
        return image.copy()
    codes = np.array([step for step, _ in steps], np.int64)
    amounts = np.array(
        [int(amount * 255) % 256 if step is ColorStep.HUE else amount for step, amount in steps],
        np.float32,
    )
    out = np.empty(image.shape, np.uint8)
    _adjust(np.ascontiguousarray(image).reshape(-1), codes, amounts, out.reshape(-1))
    return out


def gray(image: ImageArray) -> ImageArray:
    """Convert to gray: the luma (ITU-R 601) in all three channels."""
    return adjust(image, [(ColorStep.GRAY, 1.0)])


def solarize(image: ImageArray, threshold: float) -> ImageArray:
    """Invert all values that are at least `threshold` (0 to 256)."""
    levels = np.arange(256)
    table = np.where(levels < threshold, levels, 255 - levels).astype(np.uint8)
    return np.asarray(cv2.LUT(np.ascontiguousarray(image), table), dtype=np.uint8)


# The kernel works on blocks of pixels that fit the first-level cache, as three planes of float32,
# so that the compiler can vectorize the loop of each step. `math.floor` would prevent that by its
# integer result, hence `np.floor`.
_BLOCK = 1024
_BRIGHTNESS, _CONTRAST, _SATURATION, _HUE = (int(step) for step in list(ColorStep)[:4])
_F = np.float32
_compiled = njit(cache=True, nogil=True, fastmath=True, error_model="numpy")


@_compiled
def _adjust(source, codes, amounts, out):  # type: ignore[no-untyped-def]
    """Apply the steps to flat samples in one pass, plus one for each contrast step."""
    mean = _F(0)
    start = 0
    for stop in range(codes.size + 1):
        last = stop == codes.size
        if last or codes[stop] == _CONTRAST:
            # A contrast step needs the mean of the current image, so a pass ends before it.
            if start == 0:
                total = _run(source, codes, amounts, start, stop, mean, not last, out)
            else:
                total = _run(out, codes, amounts, start, stop, mean, not last, out)
            mean = _F(np.floor(total / (source.size // 3) + 0.5))
            start = stop


@_compiled
def _run(source, codes, amounts, start, stop, mean, want_total, out):  # type: ignore[no-untyped-def]
    """Apply steps `start` to `stop` in one pass; returns the sum of gray levels if wanted."""
    pixels = source.size // 3
    red, green, blue = np.empty(_BLOCK, _F), np.empty(_BLOCK, _F), np.empty(_BLOCK, _F)
    total = 0.0
    for first in range(0, pixels, _BLOCK):
        count = min(_BLOCK, pixels - first)
        r, g, b = red[:count], green[:count], blue[:count]
        block = source[3 * first : 3 * (first + count)]
        for i in range(count):
            r[i], g[i], b[i] = block[3 * i], block[3 * i + 1], block[3 * i + 2]
        for step in range(start, stop):
            amount = amounts[step]
            if codes[step] == _BRIGHTNESS:
                _blend(r, g, b, amount, _F(0))
            elif codes[step] == _CONTRAST:
                _blend(r, g, b, amount, (_F(1) - amount) * mean)
            elif codes[step] == _SATURATION:
                _blend_gray(r, g, b, amount)
            elif codes[step] == _HUE:
                _rotate_hue(r, g, b, amount)
            else:
                _blend_gray(r, g, b, _F(0))
        if want_total:
            block_total = _F(0)
            for i in range(count):
                block_total += _luma(r[i], g[i], b[i])
            total += float(block_total)
        target = out[3 * first : 3 * (first + count)]
        for i in range(count):
            target[3 * i] = np.uint8(np.int32(r[i]))
            target[3 * i + 1] = np.uint8(np.int32(g[i]))
            target[3 * i + 2] = np.uint8(np.int32(b[i]))
    return total


@_compiled
def _luma(r, g, b):  # type: ignore[no-untyped-def]
    return np.floor(_F(19595 / 65536) * r + _F(38470 / 65536) * g + _F(7471 / 65536) * b + _F(0.5))


@_compiled
def _clip(value):  # type: ignore[no-untyped-def]
    return np.floor(min(max(value, _F(0)), _F(255)))


@_compiled
def _blend(r, g, b, amount, rest):  # type: ignore[no-untyped-def]
    for i in range(r.size):
        r[i] = _clip(amount * r[i] + rest)
        g[i] = _clip(amount * g[i] + rest)
        b[i] = _clip(amount * b[i] + rest)


@_compiled
def _blend_gray(r, g, b, amount):  # type: ignore[no-untyped-def]
    for i in range(r.size):
        rest = (_F(1) - amount) * _luma(r[i], g[i], b[i])
        r[i] = _clip(amount * r[i] + rest)
        g[i] = _clip(amount * g[i] + rest)
        b[i] = _clip(amount * b[i] + rest)


@_compiled
def _rotate_hue(r, g, b, shift):  # type: ignore[no-untyped-def]
    """Convert to HSV with Pillow's 8-bit hue and saturation, shift hue modulo 256, convert back."""
    for i in range(r.size):
        value = max(r[i], max(g[i], b[i]))
        chroma = value - min(r[i], min(g[i], b[i]))
        inverse = _F(1) / max(chroma, _F(1))
        hue = _F(4) + (r[i] - g[i]) * inverse
        hue = _F(2) + (b[i] - r[i]) * inverse if g[i] == value else hue
        hue = (g[i] - b[i]) * inverse if r[i] == value else hue
        hue = hue + _F(6) if hue < _F(0) else hue
        hue = np.floor(hue * _F(255 / 6)) + shift
        hue = hue - _F(256) if hue >= _F(256) else hue
        hue = hue * _F(6 / 255)
        chroma = np.floor(_F(255) * chroma / max(value, _F(1))) * _F(1 / 255) * value
        r[i] = _channel(hue + _F(5), value, chroma)
        g[i] = _channel(hue + _F(3), value, chroma)
        b[i] = _channel(hue + _F(1), value, chroma)


@_compiled
def _channel(sector, value, chroma):  # type: ignore[no-untyped-def]
    """One channel of HSV to RGB; `sector` is in sixths of the color circle."""
    sector = sector - _F(6) if sector >= _F(6) else sector
    ramp = max(_F(0), min(_F(1), min(sector, _F(4) - sector)))
    return np.floor(value - chroma * ramp + _F(0.5))
