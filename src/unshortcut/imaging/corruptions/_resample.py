"""Gaussian blur, zoom and displacement as in SciPy's `ndimage`, several times as fast.

All functions use double precision and SciPy's order of summation, so results are the same to the
bit (for blurs with a radius above `_DIRECT` pixels to about 1e-15, which changes no level).
"""

import math
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import FloatArray, IndexArray
from unshortcut.imaging.corruptions.corruption import compiled

DoubleArray = NDArray[np.float64]
Border = Literal["edge", "symmetric"]
"""NumPy's names for a replicated (SciPy's "nearest") or mirrored border (SciPy's "reflect")."""

_DIRECT = 12
"""The radius up to which a direct convolution is faster than a matrix product."""


def gaussian(field: DoubleArray, sigma: float, truncate: float, border: Border) -> DoubleArray:
    """Blur (h, w, c) along its first two axes, as `scipy.ndimage.gaussian_filter` does."""
    radius = int(truncate * sigma + 0.5)
    if radius == 0:
        return field
    if radius > _DIRECT:
        down = _blurring(field.shape[0], radius, sigma, border)
        across = _blurring(field.shape[1], radius, sigma, border)
        planes = down @ np.moveaxis(field, 2, 0) @ across.T
        return np.ascontiguousarray(np.moveaxis(planes, 0, 2))
    height, width, channels = field.shape
    out = np.empty(field.shape)
    rows = np.pad(np.arange(height), radius, border)
    columns = np.pad(np.arange(width), radius, border)
    samples = (columns[:, None] * channels + np.arange(channels)).reshape(-1)
    weights = _gaussian_weights(radius, sigma)[: radius + 1]
    _blurred(field.reshape(height, -1), rows, samples, weights, channels, out.reshape(height, -1))
    return out


def crop_for_zoom(side: int, factor: float) -> tuple[int, int]:
    """Start and length of the central part of a side that fills the side when zoomed."""
    length = math.ceil(side / factor)
    return (side - length) // 2, length


def zoomed_side(side: int, factor: float) -> int:
    """Length of that central part after zooming: the side, or a few pixels more."""
    return round(crop_for_zoom(side, factor)[1] * factor)


def zoomed(image: DoubleArray, factor: float) -> DoubleArray:
    """Zoom the center of (h, w) linearly to at least (h, w), as `ndimage.zoom` does.

    Additional rows and columns are at the bottom and at the right.
    """
    height, width = image.shape
    rows, columns = zoomed_side(height, factor), zoomed_side(width, factor)
    out = np.zeros((rows, columns))
    _add_zooms(image, _taps(height, rows, (factor,)), _taps(width, columns, (factor,)), out)
    return out


def sum_of_zooms(image: FloatArray, factors: tuple[float, ...]) -> FloatArray:
    """Sum of zooms of the center of (h, w, c) to (h, w, c), each rounded to float32."""
    height, width, channels = image.shape
    total = np.zeros_like(image)
    _add_zooms(
        image.reshape(height, -1),
        _taps(height, height, factors),
        _taps(width, width, factors, channels),
        total.reshape(height, -1),
    )
    return total


def displaced(image: FloatArray, down: FloatArray, across: FloatArray) -> FloatArray:
    """Read (h, w, c) at displaced positions with linear interpolation and a mirrored border, as
    `ndimage.map_coordinates` does."""
    out = np.empty_like(image)
    _displaced(image, down, across, out)
    return out


def _gaussian_weights(radius: int, sigma: float) -> DoubleArray:
    offsets = np.arange(-radius, radius + 1)
    weights = np.exp(-0.5 / (sigma * sigma) * offsets**2)
    return np.asarray(weights / weights.sum())


@lru_cache(maxsize=16)
def _blurring(side: int, radius: int, sigma: float, border: Border) -> DoubleArray:
    """(side, side): the matrix that blurs a column, including the padding at the border."""
    sources = np.pad(np.arange(side), radius, border)
    windows = np.lib.stride_tricks.sliding_window_view(sources, 2 * radius + 1)
    cells = windows + side * np.arange(side)[:, None]
    weights = np.broadcast_to(_gaussian_weights(radius, sigma), cells.shape)
    matrix = np.bincount(cells.reshape(-1), weights.reshape(-1), side * side)
    return np.asarray(matrix, np.float64).reshape(side, side)


class _Taps(NamedTuple):
    """Indices and weights of linear interpolation along one axis, for F factors."""

    before: IndexArray
    """(F, n): index of the sample before each new one."""
    after: IndexArray
    """(F, n): index of the sample after it, or the same one at the end."""
    weights: DoubleArray
    """(F, 2, n): weights of the two; both 0 if rounding puts the last sample just outside, where
    SciPy reads black."""


@lru_cache(maxsize=64)
def _taps(side: int, count: int, factors: tuple[float, ...], channels: int = 1) -> _Taps:
    """Taps of the first `count` pixels of the zoomed center of a side; channels are interleaved."""
    before, after, weights = [], [], []
    for factor in factors:
        start, length = crop_for_zoom(side, factor)
        position = (length - 1) / (zoomed_side(side, factor) - 1) * np.arange(count)
        first = np.floor(position)
        fraction = position - first
        before.append(start + first.astype(np.int64))
        after.append(start + np.minimum(first.astype(np.int64) + 1, length - 1))
        weights.append(np.where(position > length - 1, 0.0, np.stack([1 - fraction, fraction])))
    channel = np.tile(np.arange(channels), count)
    return _Taps(
        np.repeat(np.array(before) * channels, channels, axis=1) + channel,
        np.repeat(np.array(after) * channels, channels, axis=1) + channel,
        np.repeat(np.stack(weights), channels, axis=2),
    )


@compiled
def _blurred(field, rows, samples, weights, channels, out):  # type: ignore[no-untyped-def]
    """Blur (h, w c). `rows` (h + 2 r,) and `samples` ((w + 2 r) c,) are source indices with
    the border; weights go from the farthest to the center."""
    radius = weights.size - 1
    height, width = out.shape
    line, padded = np.empty(width), np.empty(samples.size)
    for y in range(height):
        middle, weight = field[y], weights[radius]
        for x in range(width):
            line[x] = middle[x] * weight
        for j in range(radius):
            above, below, weight = field[rows[y + j]], field[rows[y + 2 * radius - j]], weights[j]
            for x in range(width):
                line[x] += (above[x] + below[x]) * weight
        for x in range(samples.size):
            padded[x] = line[samples[x]]
        row, weight = out[y], weights[radius]
        for x in range(width):
            row[x] = line[x] * weight
        for j in range(radius):
            left, weight = padded[j * channels :], weights[j]
            right = padded[(2 * radius - j) * channels :]
            for x in range(width):
                row[x] += (left[x] + right[x]) * weight


@compiled
def _add_zooms(image, down, across, total):  # type: ignore[no-untyped-def]
    """Add zooms of rows of samples, with interleaved channels, to `total`."""
    height, width = total.shape
    upper, lower = np.empty(image.shape[1]), np.empty(image.shape[1])
    # SciPy rounds each sample to the image's dtype before it is added.
    line = np.empty(width, total.dtype)
    for y in range(height):
        row = total[y]
        for k in range(down.before.shape[0]):
            first, second = image[down.before[k, y]], image[down.after[k, y]]
            one, two = down.weights[k, 0, y], down.weights[k, 1, y]
            for x in range(image.shape[1]):
                upper[x] = first[x] * one
                lower[x] = second[x] * two
            before, after = across.before[k], across.after[k]
            left, right = across.weights[k, 0], across.weights[k, 1]
            for x in range(width):
                value = upper[before[x]] * left[x] + upper[after[x]] * right[x]
                line[x] = value + lower[before[x]] * left[x] + lower[after[x]] * right[x]
            for x in range(width):
                row[x] += line[x]


@compiled
def _mirrored(position, side):  # type: ignore[no-untyped-def]
    """Reflect a coordinate into the range of the samples; indices are then -1 to `side`."""
    period = 2 * side
    if position < 0:
        if position < -period:
            position = period * int(-position / period) + position
        return position + period if position < -side else max(-position, 1e-15) - 1
    if position > side - 1:
        position -= period * int(position / period)
        if position >= side:
            return period - position - 1
    return position


@compiled
def _inside(index, side):  # type: ignore[no-untyped-def]
    return min(max(index, 0), side - 1)


@compiled
def _displaced(image, down, across, out):  # type: ignore[no-untyped-def]
    height, width, channels = image.shape
    for y in range(height):
        for x in range(width):
            row = _mirrored(y + np.float64(down[y, x]), height)
            column = _mirrored(x + np.float64(across[y, x]), width)
            top, left = int(np.floor(row)), int(np.floor(column))
            v, u = row - top, column - left
            first = image[_inside(top, height)]
            second = image[_inside(top + 1, height)]
            before, after = _inside(left, width), _inside(left + 1, width)
            for c in range(channels):
                value = first[before, c] * (1 - v) * (1 - u) + first[after, c] * (1 - v) * u
                value = value + second[before, c] * v * (1 - u) + second[after, c] * v * u
                out[y, x, c] = np.float32(value)
