"""Rendering kernels: rasterizing outlines, and painting textures and backgrounds."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from unshortcut.arrays import FloatArray
from unshortcut.data.shapes.colors import Color
from unshortcut.data.shapes.textures import pattern

Coverage = FloatArray
"""(size, size): the fraction of each pixel that is covered, in [0, 1]."""
Canvas = FloatArray
"""(size, size, 3): RGB in [0, 1]."""

SUBLINES = 4


@njit(cache=True, nogil=True)
def fill(points: NDArray[np.float64], size: int) -> Coverage:
    """The fraction of each pixel inside a closed polygon (V, 2), in units of the image side.

    Coverage is exact along rows and uses `SUBLINES` samples per pixel along columns: each edge
    adds its signed crossing of a line, and the cumulative sum along the row is the winding number.
    """
    cover = np.zeros((size, size + 2), np.float32)
    last = len(points) - 1
    for i in range(len(points)):
        x0, y0 = points[last] * size
        x1, y1 = points[i] * size
        last = i
        sign = 1.0 if y1 > y0 else -1.0
        if y1 < y0:
            x0, y0, x1, y1 = x1, y1, x0, y0
        first = max(0, int(np.ceil(y0 * SUBLINES - 0.5)))
        end = min(size * SUBLINES, int(np.ceil(y1 * SUBLINES - 0.5)))
        for line in range(first, end):
            y = (line + 0.5) / SUBLINES
            x = min(max(x0 + (x1 - x0) * (y - y0) / (y1 - y0), 0.0), float(size))
            column = int(x)
            right = x - column
            cover[line // SUBLINES, column] += sign * (1 - right) / SUBLINES
            cover[line // SUBLINES, column + 1] += sign * right / SUBLINES
    for row in range(size):
        total = 0.0
        for column in range(size):
            total += cover[row, column]
            cover[row, column] = min(abs(total), 1.0)
    return cover[:, :size].copy()


@njit(cache=True, nogil=True)
def stroke(points: NDArray[np.float64], size: int, width: float) -> Coverage:
    """The fraction of each pixel covered by a closed line; lengths are in units of the image."""
    cover = np.zeros((size, size), np.float32)
    half = max(width * size, 1.0) / 2
    reach = half + 1
    last = len(points) - 1
    for i in range(len(points)):
        x0, y0 = points[last] * size
        x1, y1 = points[i] * size
        last = i
        dx, dy = x1 - x0, y1 - y0
        length = max(dx * dx + dy * dy, 1e-12)
        for row in range(max(0, int(min(y0, y1) - reach)), min(size, int(max(y0, y1) + reach) + 1)):
            for column in range(
                max(0, int(min(x0, x1) - reach)), min(size, int(max(x0, x1) + reach) + 1)
            ):
                px, py = column + 0.5 - x0, row + 0.5 - y0
                along = min(max((px * dx + py * dy) / length, 0.0), 1.0)
                inside = half + 0.5 - np.hypot(px - along * dx, py - along * dy)
                cover[row, column] = max(cover[row, column], min(max(inside, 0.0), 1.0))
    return cover


@njit(cache=True, nogil=True)
def paint_flat(canvas: Canvas, cover: Coverage, color: Color) -> None:
    """Paint one color onto the canvas where `cover` is above 0."""
    size = len(canvas)
    for row in range(size):
        for column in range(size):
            c = cover[row, column]
            if c > 0:
                for k in range(3):
                    canvas[row, column, k] += c * (color[k] - canvas[row, column, k])


@njit(cache=True, nogil=True)
def paint_texture(
    canvas: Canvas,
    cover: Coverage,
    kind: int,
    period: float,
    angle: float,
    origin: tuple[float, float],
    colors: tuple[Color, Color],
) -> None:
    """Paint a texture onto the canvas where `cover` is above 0.

    `kind` is an index into `ALL_TEXTURE_NAMES`, known and unseen; see `pattern` for the units.
    `period` and `origin` are in units of the image; `colors` are the background and the foreground
    of the pattern. The edge between them is antialiased over one pixel.
    """
    size = len(canvas)
    cos, sin = np.cos(angle), np.sin(angle)
    pixels = period * size
    for row in range(size):
        y = (row + 0.5) / size - origin[1]
        for column in range(size):
            c = cover[row, column]
            if c > 0:
                x = (column + 0.5) / size - origin[0]
                u, v = (cos * x + sin * y) / period, (cos * y - sin * x) / period
                figure = min(max(pattern(kind, u, v) * pixels + 0.5, 0.0), 1.0)
                for k in range(3):
                    tone = colors[0][k] + figure * (colors[1][k] - colors[0][k])
                    canvas[row, column, k] += c * (tone - canvas[row, column, k])


@njit(cache=True, nogil=True)
def paint_background(
    canvas: Canvas,
    angle: float,
    weights: tuple[float, float, float],
    stretch: float,
    salt: int,
    colors: tuple[Color, Color],
) -> None:
    """Fill the canvas with soft irregular texture between two colors.

    `weights` mix a gradient across the image, clouds a quarter as wide as the image, and a grain
    that is `stretch` times longer than wide; gradient and grain run along `angle`.
    """
    size = len(canvas)
    cos, sin = np.cos(angle), np.sin(angle)
    total = weights[0] + weights[1] + weights[2]
    for row in range(size):
        y = (row + 0.5) / size - 0.5
        for column in range(size):
            x = (column + 0.5) / size - 0.5
            u, v = cos * x + sin * y, cos * y - sin * x
            mix = weights[0] * (u + 0.5)
            mix += weights[1] * value_noise(u * 4, v * 4, salt)
            mix += weights[2] * value_noise(u * 24 / stretch, v * 24, salt + 1)
            # Averages concentrate around the middle; stretch them over the whole range.
            mix = min(max((mix / total - 0.5) * 2.6 + 0.5, 0.0), 1.0)
            for k in range(3):
                canvas[row, column, k] = colors[0][k] + mix * (colors[1][k] - colors[0][k])


@njit(cache=True, nogil=True)
def value_noise(u: float, v: float, salt: int) -> float:
    """Value noise in [0, 1): random values on the integer lattice, smoothly interpolated."""
    x, y = int(np.floor(u)), int(np.floor(v))
    s, t = u - x, v - y
    s, t = s * s * (3 - 2 * s), t * t * (3 - 2 * t)
    top = _hash(x, y, salt) * (1 - s) + _hash(x + 1, y, salt) * s
    bottom = _hash(x, y + 1, salt) * (1 - s) + _hash(x + 1, y + 1, salt) * s
    return top * (1 - t) + bottom * t


@njit(cache=True, nogil=True, inline="always")
def _hash(x: int, y: int, salt: int) -> float:
    """A pseudorandom number in [0, 1) for a lattice point."""
    h = (
        np.uint64(x) * np.uint64(0x9E3779B97F4A7C15)
        ^ np.uint64(y) * np.uint64(0xC2B2AE3D27D4EB4F)
        ^ np.uint64(salt)
    )
    h = (h ^ (h >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.float64(h >> np.uint64(40)) / 16777216.0
