"""Pairs of images whose perceptual hashes are near, among all pairs."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit
from numpy.typing import NDArray

from unshortcut.inference.reading import available_workers
from unshortcut.progress import OnProgress

BITS = 64
_BLOCK = 1024
"""Images that are compared with all later ones at a time."""

Pairs = NDArray[np.int64]
"""(M, 2), the smaller number first."""


def distance_counts(
    first: NDArray[np.uint64],
    second: NDArray[np.uint64],
    *,
    workers: int | None = None,
    on_progress: OnProgress = lambda done, total: None,
) -> NDArray[np.int64]:
    """Number of pairs i < j at each Hamming distance from `first[i]` to `second[j]`, (65,)."""
    total = np.zeros(BITS + 1, np.int64)
    starts = range(0, len(first), _BLOCK)
    with ThreadPoolExecutor(max(1, available_workers(workers))) as pool:
        parts = pool.map(lambda start: _count(first, second, start, start + _BLOCK), starts)
        for number, part in enumerate(parts):
            total += part
            on_progress(min(len(first), (number + 1) * _BLOCK), len(first))
    return total


def near_pairs(
    first: NDArray[np.uint64],
    second: NDArray[np.uint64],
    most: int,
    *,
    workers: int | None = None,
) -> tuple[Pairs, NDArray[np.int64]]:
    """Pairs i < j with a Hamming distance of at most `most`, and their distances (M,)."""
    starts = range(0, len(first), _BLOCK)
    with ThreadPoolExecutor(max(1, available_workers(workers))) as pool:
        parts = list(pool.map(lambda at: _find(first, second, at, at + _BLOCK, most), starts))
    found = np.concatenate([np.zeros((0, 3), np.int64), *parts])
    return found[:, :2], found[:, 2]


@njit(cache=True, nogil=True)
def _distance(one, other):  # type: ignore[no-untyped-def]
    """Number of different bits of two words: counted in pairs, in fours, then added up."""
    bits = one ^ other
    bits -= (bits >> np.uint64(1)) & np.uint64(0x5555555555555555)
    fours = np.uint64(0x3333333333333333)
    bits = (bits & fours) + ((bits >> np.uint64(2)) & fours)
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((bits * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True, nogil=True)
def _count(first, second, start, stop):  # type: ignore[no-untyped-def]
    counts = np.zeros(BITS + 1, np.int64)
    for i in range(start, min(stop, len(first))):
        for j in range(i + 1, len(second)):
            counts[_distance(first[i], second[j])] += 1
    return counts


@njit(cache=True, nogil=True)
def _find(first, second, start, stop, most):  # type: ignore[no-untyped-def]
    found = []
    for i in range(start, min(stop, len(first))):
        for j in range(i + 1, len(second)):
            distance = _distance(first[i], second[j])
            if distance <= most:
                found.append((i, j, distance))
    rows = np.empty((len(found), 3), np.int64)
    for row, (i, j, distance) in enumerate(found):
        rows[row] = (i, j, distance)
    return rows
