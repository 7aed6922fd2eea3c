"""Parts of an image that can be cut out and pasted: squares, strips along its edges, its frame.

All have about the same area, a sixteenth of the image's, so that what one does can be compared with
what another does.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unshortcut.measuring.subjects.images import Pixels

PARTS = 4
"""The side of a square is this part of the image's."""
STEPS = 2
"""Squares begin at every such part of their side."""
CELLS = PARTS * STEPS
"""A side of the grid that the squares lie on."""
CENTER = "center"
"""The place of a square in the middle third of the image, down and across."""
SMALLEST = 8
"""Images have at least so many pixels a side: a cell of the grid is then one pixel."""


@dataclass(frozen=True)
class Region:
    """A part of an image of side S."""

    place: str
    """Where it is, in words."""
    box: tuple[int, int, int, int]
    """Left, top, right and bottom in pixels, the last two outside."""
    mask: NDArray[np.bool_]
    """(S, S)."""


def regions(side: int) -> tuple[Region, ...]:
    """Squares of a quarter of the side at half steps, four strips, and the frame."""
    assert side >= SMALLEST
    square = round(side / PARTS)
    starts = np.linspace(0, side - square, CELLS - STEPS + 1).round().astype(int).tolist()
    found = [
        _box(_words(top + square / 2, left + square / 2, side), side, left, top, square, square)
        for top in starts
        for left in starts
    ]
    depth = max(1, round(side / PARTS**2))
    far = side - depth
    found += [
        _box("along the top edge", side, 0, 0, side, depth),
        _box("along the bottom edge", side, 0, far, side, depth),
        _box("along the left edge", side, 0, 0, depth, side),
        _box("along the right edge", side, far, 0, depth, side),
    ]
    around = np.ones((side, side), dtype=bool)
    thin = max(1, round(side / PARTS**3))
    around[thin:-thin, thin:-thin] = False
    return (*found, Region("all around the edge", (0, 0, side, side), around))


def paste(host: Pixels, donor: Pixels, region: Region) -> Pixels:
    """The host with the donor's region at the same place."""
    return np.where(region.mask[:, :, None], donor, host)


def touched(region: Region) -> NDArray[np.bool_]:
    """(CELLS, CELLS): the cells of the grid in which the region has a pixel."""
    edges = np.linspace(0, len(region.mask), CELLS + 1).round().astype(int)[:-1]
    rows = np.logical_or.reduceat(region.mask, edges, axis=0)
    return np.logical_or.reduceat(rows, edges, axis=1)


def _box(place: str, side: int, left: int, top: int, width: int, height: int) -> Region:
    mask = np.zeros((side, side), dtype=bool)
    mask[top : top + height, left : left + width] = True
    return Region(place, (left, top, left + width, top + height), mask)


def _words(y: float, x: float, side: int) -> str:
    """The third of the image that a point is in, down and across."""
    down = ("top", "", "bottom")[min(2, int(3 * y / side))]
    across = ("left", "", "right")[min(2, int(3 * x / side))]
    return f"{down} {across}".strip() or CENTER
