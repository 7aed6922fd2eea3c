"""The eight textures that occur only in the split `unseen`: nothing is trained on them.

They are as regular and as high in contrast as those of `textures`, and any crop shows them.
"""

import numpy as np
from numba import njit

UNSEEN_TEXTURE_NAMES = (
    *("triangles", "honeycomb", "scales", "basket"),
    *("grains", "petals", "diamonds", "frames"),
)

ROOT_3 = 3**0.5


@njit(cache=True, nogil=True)
def unseen_pattern(kind: int, u: float, v: float) -> float:
    """As `textures.pattern`; `kind` is an index into `UNSEEN_TEXTURE_NAMES`."""
    if kind == 0:
        return _triangles(u / 1.3, v / 1.3) * 1.3
    if kind == 1:
        return _honeycomb(u / 1.5, v / 1.5) * 1.5
    if kind == 2:
        return _scales(u / 2, v / 2) * 2
    if kind == 3:
        return _basket(u / 1.9, v / 1.9) * 1.9
    if kind == 4:
        return _grains(u / 1.2, v / 1.2) * 1.2
    if kind == 5:
        return _petals(u / 1.8, v / 1.8) * 1.8
    if kind == 6:
        return _diamonds(u / 0.9, v / 2.2)
    return _frames(u / 2, v / 2) * 2


@njit(cache=True, nogil=True, inline="always")
def _from_center(x: float) -> float:
    """Signed distance from the center of the unit cell that contains x, in [-0.5, 0.5)."""
    return x - np.floor(x) - 0.5


@njit(cache=True, nogil=True, inline="always")
def _triangles(u: float, v: float) -> float:
    """Equilateral triangles of height 1; those that point in one direction are the foreground."""
    a, b, c = v, 0.5 * (ROOT_3 * u - v), 0.5 * (-ROOT_3 * u - v)
    a, b, c = a - np.floor(a), b - np.floor(b), c - np.floor(c)
    # The heights over the three sides add up to 1 in these triangles and to 2 in the others.
    return min(a, b, c) if a + b + c < 1.5 else -min(1 - a, 1 - b, 1 - c)


@njit(cache=True, nogil=True, inline="always")
def _honeycomb(u: float, v: float) -> float:
    """The walls between hexagons whose opposite sides are 1 apart."""
    a, b = _from_center(u), _from_center(v / ROOT_3) * ROOT_3
    c, d = _from_center(u - 0.5), _from_center(v / ROOT_3 - 0.5) * ROOT_3
    if np.hypot(c, d) < np.hypot(a, b):
        a, b = c, d
    a, b = abs(a), abs(b)
    return 0.09 - (0.5 - max(a, 0.5 * a + 0.5 * ROOT_3 * b))


@njit(cache=True, nogil=True, inline="always")
def _scales(u: float, v: float) -> float:
    """The lower edges of overlapping disks, like scales of a fish."""
    row = int(np.floor(2 * v))
    x, y = _from_center(u + 0.5 * (row % 2)), v - 0.5 * row
    return 0.1 - abs(0.45 - np.hypot(x, y))


@njit(cache=True, nogil=True, inline="always")
def _basket(u: float, v: float) -> float:
    """Squares with two stripes each, across in every other square."""
    across = (int(np.floor(u)) + int(np.floor(v))) % 2
    return (0.25 - abs(_from_center(2 * (v if across else u)))) / 2


@njit(cache=True, nogil=True, inline="always")
def _grains(u: float, v: float) -> float:
    """Separate short bars, tilted to the left and to the right in turn."""
    x, y = _from_center(u), _from_center(v)
    if (int(np.floor(u)) + int(np.floor(v))) % 2:
        x = -x
    along, off = (x + y) / 2**0.5, (x - y) / 2**0.5
    return 0.17 - np.hypot(max(abs(along) - 0.3, 0.0), off)


@njit(cache=True, nogil=True, inline="always")
def _petals(u: float, v: float) -> float:
    """The lenses in which disks around neighboring lattice points overlap."""
    x, y = abs(_from_center(u)), abs(_from_center(v))
    # Distances to the two nearest of the four disks around the corners of this cell.
    near, next_ = np.hypot(x - 0.5, y - 0.5), np.hypot(max(x, y) - 0.5, min(x, y) + 0.5)
    return 0.68 - max(near, next_)


@njit(cache=True, nogil=True, inline="always")
def _diamonds(u: float, v: float) -> float:
    """Tall diamonds, corner to corner; u and v are in units of their width and height."""
    x, y = abs(_from_center(u)), abs(_from_center(v))
    return (0.5 - x - y) / np.hypot(1 / 0.9, 1 / 2.2)


@njit(cache=True, nogil=True, inline="always")
def _frames(u: float, v: float) -> float:
    """Square frames with a square in each."""
    out = max(abs(_from_center(u)), abs(_from_center(v)))
    return max(0.1 - out, 0.09 - abs(0.32 - out))
