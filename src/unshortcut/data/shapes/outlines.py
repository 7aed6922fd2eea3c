"""The eight shapes as closed polygons; for each, top and bottom differ."""

from collections.abc import Sequence
from math import cos, sin

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]


def placed(
    outline: Points,
    center: tuple[float, float],
    radius: float,
    angle: float,
    stretch: float = 1.0,
    mirrored: bool = False,
) -> Points:
    """Place an outline in the image: (V, 2) points x, y in units of the image, y downwards.

    `stretch` scales width over height; the points always stay within `radius` of `center`.
    `angle` rotates clockwise, in radians.
    """
    wide, high = radius * min(1.0, stretch), radius * min(1.0, 1.0 / stretch)
    if mirrored:
        wide = -wide
    matrix = ((wide * cos(angle), wide * sin(angle)), (-high * sin(angle), high * cos(angle)))
    return outline @ np.array(matrix) + center


def wobbled(outline: Points, amount: float, waves: int, phase: float) -> Points:
    """An outline as if drawn by an unsteady hand: its radius varies by `amount`, `waves` times."""
    angle = np.arctan2(outline[:, 1], outline[:, 0])
    return outline * (1 + amount * np.sin(waves * angle + phase))[:, None]


def _outline(corners: Points | Sequence[tuple[float, float]], spacing: float = 0.12) -> Points:
    """A polygon in the unit circle (y downwards) from corners (y upwards); long edges are split."""
    points = np.array(corners, dtype=np.float64) * (1.0, -1.0)
    points -= (points.min(axis=0) + points.max(axis=0)) / 2
    points /= np.linalg.norm(points, axis=1).max()
    edges = []
    for start, end in zip(points, np.roll(points, -1, axis=0), strict=True):
        steps = max(1, round(float(np.linalg.norm(end - start)) / spacing))
        edges.append(start + (end - start) * (np.arange(steps) / steps)[:, None])
    return np.concatenate(edges)


def _arc(center: tuple[float, float], radius: float, start: float, end: float) -> Points:
    """An arc between two angles, in degrees counterclockwise from the positive x axis."""
    angle = np.radians(np.linspace(start, end, 24))
    return np.asarray(center) + radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _symmetric(*half: tuple[float, float]) -> Points:
    """A polygon that is symmetric about the vertical axis, from the top to the bottom corner."""
    return _outline([*half, *((-x, y) for x, y in half[:0:-1])])


def _crescent() -> Points:
    # The circle to cut out passes through the ends of the outer arc.
    outer = _arc((0.0, 0.0), 1.0, 150.0, 390.0)
    inner = _arc((0.0, 0.75), np.hypot(np.cos(np.pi / 6), 0.25), -16.1, -163.9)
    return _outline(np.concatenate([outer, inner[1:-1]]))


def _drop() -> Points:
    angle = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    return _outline(np.stack([np.sin(angle) * np.sin(angle / 2) ** 1.6, np.cos(angle)], axis=1))


def _heart() -> Points:
    angle = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    height = 13 * np.cos(angle) - 5 * np.cos(2 * angle) - 2 * np.cos(3 * angle) - np.cos(4 * angle)
    return _outline(np.stack([16 * np.sin(angle) ** 3, height], axis=1))


def _house() -> Points:
    walls = [(-0.95, 0.0), (-0.7, 0.0), (-0.7, -1.0), (0.7, -1.0), (0.7, 0.0), (0.95, 0.0)]
    roof = [(0.0, 1.0), (-0.32, 0.64), (-0.32, 0.95), (-0.62, 0.95), (-0.62, 0.34)]
    return _outline(walls + roof)


def _mushroom() -> Points:
    cap = _arc((0.0, 0.0), 1.0, 0.0, 180.0) * (1.0, 0.9)
    stem = [(-0.3, 0.0), (-0.36, -0.9), (0.36, -0.9), (0.3, 0.0)]
    return _outline(np.concatenate([cap, stem]))


OUTLINES: dict[str, Points] = {
    "arrow": _symmetric((0.0, 1.0), (0.8, 0.15), (0.27, 0.15), (0.27, -1.0)),
    "crescent": _crescent(),
    "crown": _symmetric((0.0, 0.85), (0.42, 0.0), (1.0, 0.65), (0.8, -0.75)),
    "drop": _drop(),
    "heart": _heart(),
    "house": _house(),
    "mushroom": _mushroom(),
    "tree": _symmetric(
        *((0.0, 1.0), (0.55, 0.35), (0.28, 0.35), (0.72, -0.2), (0.36, -0.2), (0.9, -0.75)),
        *((0.2, -0.75), (0.2, -1.0)),
    ),
}
"""Polygons by name: (V, 2) points x, y in the unit circle, y downwards, without self-crossings."""

SHAPE_NAMES: tuple[str, ...] = tuple(OUTLINES)
