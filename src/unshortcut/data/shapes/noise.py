"""Smooth random fields for backgrounds, a pure function of place and salt."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, inline="always")
def _hash(x: int, y: int, salt: int) -> float:
    """A number in [0, 1) for a lattice point."""
    h = (
        np.uint64(x) * np.uint64(0x9E3779B97F4A7C15)
        ^ np.uint64(y) * np.uint64(0xC2B2AE3D27D4EB4F)
        ^ np.uint64(salt)
    )
    h = (h ^ (h >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.float64(h >> np.uint64(40)) / 16777216.0


@njit(cache=True, nogil=True)
def value_noise(u: float, v: float, salt: int) -> float:
    """Random values on the integer lattice, joined smoothly; in [0, 1), about one bump a unit."""
    x, y = int(np.floor(u)), int(np.floor(v))
    s, t = u - x, v - y
    s, t = s * s * (3 - 2 * s), t * t * (3 - 2 * t)
    top = _hash(x, y, salt) * (1 - s) + _hash(x + 1, y, salt) * s
    bottom = _hash(x, y + 1, salt) * (1 - s) + _hash(x + 1, y + 1, salt) * s
    return top * (1 - t) + bottom * t
