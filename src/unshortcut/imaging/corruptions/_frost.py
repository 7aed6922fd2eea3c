"""Synthetic frosted windows, in place of the five photographs that ImageNet-C uses.

The photographs cannot be distributed with this package. Each synthetic window has the mean and the
standard deviation of one of them in every channel, its kind of crystals and about the same amount
of fine detail; errors on frost still differ from those on the published images.
"""

import math
from collections.abc import Callable
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import FloatArray, ImageArray
from unshortcut.randomness import Rng, generator

WINDOWS = 5
"""The number of photographs, two of which are the same."""

HEIGHT, WIDTH = 384, 576


@lru_cache(maxsize=2 * WINDOWS)
def frosted_window(number: int, scale: float) -> ImageArray:
    """A read-only (h, w, 3) image, the same in every process; 384 × 576 at scale 1."""
    if scale != 1:
        window = cv2.resize(frosted_window(number, 1), None, fx=scale, fy=scale)
        image = np.asarray(window, np.uint8)
    else:
        render, means, deviations = _KINDS[number]
        field = render(generator(0, "frost", number))
        field = (field - field.mean((0, 1))) / field.std((0, 1))
        levels = np.array(means) + np.array(deviations) * field
        image = np.clip(np.rint(levels), 0, 255).astype(np.uint8)
    image.flags.writeable = False
    return image


def _sheet(rng: Rng) -> FloatArray:
    """A closed sheet of ice: wrinkles lit from one side, over clouds of blue and gray."""
    bends = [6 * _clouds(rng, 50, 4) for _ in range(2)]
    wrinkles = -np.abs(_displaced(_clouds(rng, 9, 4), bends[0], bends[1]))
    relief = cv2.filter2D(wrinkles, -1, np.array([[-1.0, -1, 0], [-1, 0, 1], [0, 1, 1]]))
    relief *= np.exp(0.7 * _clouds(rng, 40, 3))
    relief = np.clip(relief / relief.std(), -3, 4)
    light, gray = _clouds(rng, 160, 6), _clouds(rng, 200, 5)
    tone = light + 0.5 * relief + 0.25 * _grain(rng, 0.6)
    # Gray patches have more red and less blue than the others.
    return np.stack([tone + share * gray for share in (0.85, 0.05, -0.4)], axis=2)


def _needles(rng: Rng) -> FloatArray:
    """Overlapping bundles of long flat crystals."""
    canvas = np.full((HEIGHT, WIDTH), 128, np.uint8)
    for _ in range(1450):
        start, angle = _random_point(rng), rng.uniform(0, 2 * np.pi)
        for _ in range(rng.integers(1, 5)):
            tilted = angle + rng.normal(0, 0.12)
            length, width = rng.uniform(12, 75), rng.uniform(1.0, 4.0)
            _blade(canvas, start + rng.normal(0, 6, 2), tilted, length, width, rng.normal(128, 40))
    return _gray(_blurred(canvas, 0.45) / 32 + 0.7 * _clouds(rng, 120, 6) + 0.3 * _grain(rng, 0.5))


def _crystals(rng: Rng) -> FloatArray:
    """Fine grain with fans of small crystals in some regions."""
    canvas = np.full((HEIGHT, WIDTH), 128, np.uint8)
    dense = _clouds(rng, 120, 3)
    for _ in range(2000):
        start = _random_point(rng)
        if dense[int(start[1]), int(start[0])] < rng.normal(0.0, 0.6):
            continue
        angle, size = rng.uniform(0, 2 * np.pi), rng.uniform(4, 18)
        for k in range(rng.integers(3, 8)):
            level = rng.normal(128, 60)
            _blade(canvas, start, angle + 0.3 * k, size * rng.uniform(0.6, 1), size / 5, level)
    tone = _blurred(canvas, 0.4) / 40 + 0.45 * _grain(rng, 0.7) + 0.7 * _clouds(rng, 200, 6)
    return _gray(tone)


def _ferns(rng: Rng) -> FloatArray:
    """Star-shaped feathers, bright on dark, with mist between them."""
    canvas = np.zeros((HEIGHT, WIDTH), np.uint8)
    dense = _clouds(rng, 140, 3)
    for _ in range(1800):
        start = _random_point(rng)
        here = float(dense[int(start[1]), int(start[0])])
        angle, size = rng.uniform(0, 2 * np.pi), rng.uniform(7, 18) * (1.4 if here > 0 else 1)
        bright = rng.uniform(20, 170) + 40 * here
        angles = angle + rng.uniform(0.6, 1.3) * np.arange(float(rng.integers(1, 5)))
        _star(rng, canvas, start, angles, size, bright)
    tone = _blurred(canvas, 0.35) / 45 + 0.3 * dense + 0.4 * _clouds(rng, 220, 4)
    return _gray(tone + 0.15 * _grain(rng, 0.5))


_KINDS: tuple[tuple[Callable[[Rng], FloatArray], list[float], list[float]], ...] = (
    (_sheet, [77.7, 149.1, 165.7], [26.9, 16.5, 15.3]),
    (_needles, [200.8, 205.4, 214.5], [21.4, 22.1, 22.6]),
    (_needles, [200.8, 205.4, 214.5], [21.4, 22.1, 22.6]),
    (_crystals, [137.6, 152.8, 165.2], [28.5, 28.5, 29.9]),
    (_ferns, [112.4, 123.4, 134.8], [44.4, 43.3, 41.7]),
)


def _random_point(rng: Rng) -> NDArray[np.float64]:
    """A point (x, y) on the window."""
    return rng.uniform(0, 1, 2) * (WIDTH, HEIGHT)


def _gray(tone: FloatArray) -> FloatArray:
    return np.repeat(tone[..., None], 3, axis=2)


def _clouds(rng: Rng, period: float, octaves: int) -> FloatArray:
    """(h, w) noise of mean 0 and standard deviation 1, each octave half as strong as the last."""
    total = np.zeros((HEIGHT, WIDTH), np.float32)
    for octave in range(octaves):
        cell = max(1.0, period / 2**octave)
        coarse = rng.standard_normal((int(HEIGHT / cell) + 3, int(WIDTH / cell) + 3), np.float32)
        grown = cv2.resize(coarse, None, fx=cell, fy=cell, interpolation=cv2.INTER_CUBIC)
        total += 0.5**octave * grown[:HEIGHT, :WIDTH]
    return np.asarray((total - total.mean()) / total.std(), np.float32)


def _grain(rng: Rng, sigma: float) -> FloatArray:
    noise = _blurred(rng.standard_normal((HEIGHT, WIDTH), np.float32), sigma)
    return np.asarray(noise / noise.std(), np.float32)


def _blurred(tone: NDArray[np.generic], sigma: float) -> FloatArray:
    return np.asarray(cv2.GaussianBlur(tone.astype(np.float32), (0, 0), sigma), np.float32)


def _displaced(tone: FloatArray, across: FloatArray, down: FloatArray) -> FloatArray:
    x = across + np.arange(WIDTH, dtype=np.float32)
    y = down + np.arange(HEIGHT, dtype=np.float32)[:, None]
    moved = cv2.remap(tone, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
    return np.asarray(moved, np.float32)


_FRACTION = 4
"""Fractional bits of coordinates: OpenCV then draws with a precision of 1/16 pixel."""


def _blade(
    canvas: ImageArray,
    start: NDArray[np.float64],
    angle: float,
    length: float,
    width: float,
    level: float,
) -> None:
    """A long thin leaf with one half lighter than the other, like the two faces of a crystal."""
    x, y = (float(number) for number in start)
    right, down = length * math.cos(angle), length * math.sin(angle)
    broad = 0.5 * width / length
    for side in (-1, 1):
        edge = (x + 0.4 * right - side * broad * down, y + 0.4 * down + side * broad * right)
        leaf = np.rint(np.array([(x, y), edge, (x + right, y + down)]) * 2**_FRACTION)
        color = min(max(level + 16 * side, 0.0), 255.0)
        cv2.fillConvexPoly(canvas, leaf.astype(np.int32), color, cv2.LINE_AA, _FRACTION)


def _star(
    rng: Rng,
    canvas: ImageArray,
    start: NDArray[np.float64],
    angles: NDArray[np.float64],
    length: float,
    level: float,
) -> None:
    """Feathers from one point: spines with barbs at 60 degrees, shorter toward the end."""
    distances = np.arange(2.0, length, 2.2)
    spines = start + length * _direction(angles)
    roots = start + distances[:, None] * _direction(angles)[:, None]
    barbs = 0.45 * (length - distances)[:, None] * rng.uniform(0.6, 1.1, (2, *roots.shape[:2], 1))
    sides = np.stack([_direction(angles - 1.05), _direction(angles + 1.05)])
    ends = roots + barbs * sides[:, :, None]
    level = min(max(level, 20.0), 230.0)
    _lines(canvas, np.broadcast_to(roots, ends.shape), ends, level)
    _lines(canvas, np.broadcast_to(start, spines.shape), spines, min(255.0, level + 60))


def _direction(angles: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def _lines(
    canvas: ImageArray, starts: NDArray[np.float64], ends: NDArray[np.float64], level: float
) -> None:
    points = np.stack([starts.reshape(-1, 2), ends.reshape(-1, 2)], axis=1)
    fixed = np.rint(points * 2**_FRACTION).astype(np.int32)
    cv2.polylines(canvas, list(fixed), False, level, 1, cv2.LINE_AA, _FRACTION)
