"""The drawing kernels: coverage of outlines and the painting of textures and backgrounds."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from unshortcut.data.shapes.colors import Color
from unshortcut.data.shapes.noise import value_noise
from unshortcut.data.shapes.textures import pattern

Plane = NDArray[np.float32]
"""(size, size) coverage in [0, 1]."""
Canvas = NDArray[np.float32]
"""(size, size, 3) RGB in [0, 1]."""

SUBLINES = 4


@njit(cache=True, nogil=True)
def fill(points: NDArray[np.float64], size: int) -> Plane:
    """The part of each pixel inside a closed polygon (V, 2), given in units of the image.

    Exact along rows, `SUBLINES` samples a pixel down the columns: each edge adds its signed
    crossing of a line, and the running sum along the row is the winding number.
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
def stroke(points: NDArray[np.float64], size: int, width: float) -> Plane:
    """The part of each pixel covered by a closed line of a width, all in units of the image."""
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
def paint_flat(canvas: Canvas, cover: Plane, color: Color) -> None:
    """Lay one color over the canvas where it is covered."""
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
    cover: Plane,
    kind: int,
    period: float,
    angle: float,
    origin: tuple[float, float],
    colors: tuple[Color, Color],
) -> None:
    """Lay a texture over the canvas where it is covered.

    `period` and `origin` are in units of the image; `colors` are the pattern's ground
    and its figure. The edge between them is one pixel soft.
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

    `weights` mix a ramp across the image, clouds a quarter of it wide, and a grain that is
    `stretch` times longer than wide; the ramp and the grain run along `angle`.
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
            # Averages crowd around the middle; spread them over the whole range again.
            mix = min(max((mix / total - 0.5) * 2.6 + 0.5, 0.0), 1.0)
            for k in range(3):
                canvas[row, column, k] = colors[0][k] + mix * (colors[1][k] - colors[0][k])
