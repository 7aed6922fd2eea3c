"""The textures: two-tone patterns, each defined by a signed distance."""

import numpy as np
from numba import njit

from unshortcut.data.shapes.unseen_textures import UNSEEN_TEXTURE_NAMES, unseen_pattern

TEXTURE_NAMES = ("stripes", "checker", "dots", "zigzag", "grid", "bricks", "rings", "crosses")
ALL_TEXTURE_NAMES = (*TEXTURE_NAMES, *UNSEEN_TEXTURE_NAMES)
KNOWN = len(TEXTURE_NAMES)


@njit(cache=True, nogil=True)
def pattern(kind: int, u: float, v: float) -> float:
    """Signed distance of (u, v) from the pattern's edges, in periods; positive in the foreground.

    `kind` is an index into `ALL_TEXTURE_NAMES`; u and v count periods along the pattern's axes.
    """
    if kind == 0:
        return _stripe(u)
    if kind == 1:
        return _checker(u / 1.35, v / 1.35) * 1.35
    if kind == 2:
        return _dots(u, v)
    if kind == 3:
        return _zigzag(u, v)
    if kind == 4:
        return _grid(u, v)
    if kind == 5:
        return _bricks(u, v)
    if kind == 6:
        return _rings(u / 1.5, v / 1.5) * 1.5
    if kind == 7:
        return _crosses(u / 1.3, v / 1.3) * 1.3
    return unseen_pattern(kind - KNOWN, u, v)


@njit(cache=True, nogil=True, inline="always")
def _off_center(x: float) -> float:
    """Distance to the center of the unit cell that contains x, in [0, 0.5]."""
    return abs(x - np.floor(x) - 0.5)


@njit(cache=True, nogil=True, inline="always")
def _stripe(x: float) -> float:
    return 0.25 - _off_center(x)


@njit(cache=True, nogil=True, inline="always")
def _checker(u: float, v: float) -> float:
    a, b = _stripe(u), _stripe(v)
    nearest = min(abs(a), abs(b))
    return nearest if a * b > 0 else -nearest


@njit(cache=True, nogil=True, inline="always")
def _dots(u: float, v: float) -> float:
    row = v / 0.9
    x = u + 0.5 * (int(np.floor(row)) % 2)
    return 0.3 - np.hypot(_off_center(x), _off_center(row) * 0.9)


@njit(cache=True, nogil=True, inline="always")
def _zigzag(u: float, v: float) -> float:
    slope = 1.2
    return _stripe(v + slope * 1.3 * _off_center(u / 1.3)) / np.hypot(1.0, slope)


@njit(cache=True, nogil=True, inline="always")
def _grid(u: float, v: float) -> float:
    return 0.13 - min(_off_center(u), _off_center(v))


@njit(cache=True, nogil=True, inline="always")
def _bricks(u: float, v: float) -> float:
    x = u / 2 + 0.5 * (int(np.floor(v + 0.5)) % 2)
    return 0.12 - min(_off_center(x) * 2, _off_center(v))


@njit(cache=True, nogil=True, inline="always")
def _rings(u: float, v: float) -> float:
    return 0.1 - abs(0.3 - np.hypot(_off_center(u), _off_center(v)))


@njit(cache=True, nogil=True, inline="always")
def _crosses(u: float, v: float) -> float:
    a, b = _off_center(u + 0.5 * (int(np.floor(v)) % 2)), _off_center(v)
    return min(0.12 - min(a, b), 0.4 - max(a, b))
