"""Regions of an image that can be cut out and pasted: squares, strips along the edges, a frame.

All have about a sixteenth of the area of the image, so that their effects are comparable.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from unshortcut.measuring.exhibits import Picture, picture
from unshortcut.measuring.subjects.images import Pixels

PARTS = 4
"""Squares per side of the image."""
STEPS = 2
"""Steps per side of a square."""
CELLS = PARTS * STEPS
"""Side of the grid on which the squares lie."""
CENTER = "center"
"""The position of a square in the middle third of the image, both vertically and horizontally."""
SMALLEST = 8
"""Smallest side of an image in pixels, with one pixel per cell of the grid."""
SIDE = 160
"""Side of the pictures in pixels."""
_GRAY = 128


@dataclass(frozen=True)
class Region:
    """A region of an image with side S."""

    position: str
    """A description of its position."""
    box: tuple[int, int, int, int]
    """Left, top, right and bottom in pixels, the last two exclusive."""
    mask: NDArray[np.bool_]
    """(S, S)."""


def regions(side: int) -> tuple[Region, ...]:
    """Squares of a quarter of the side in steps of half a square, four strips, and the frame."""
    assert side >= SMALLEST
    square = round(side / PARTS)
    starts = np.linspace(0, side - square, CELLS - STEPS + 1).round().astype(int).tolist()
    found = [
        _box(_position(top + square / 2, left + square / 2, side), side, left, top, square, square)
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
    """The host with the donor's region at the same position."""
    return np.where(region.mask[:, :, None], donor, host)


def touched(region: Region) -> NDArray[np.bool_]:
    """The cells (CELLS, CELLS) of the grid that the region overlaps."""
    edges = np.linspace(0, len(region.mask), CELLS + 1).round().astype(int)[:-1]
    rows = np.logical_or.reduceat(region.mask, edges, axis=0)
    return np.logical_or.reduceat(rows, edges, axis=1)


def outlined(pixels: Pixels, region: Region, caption: str) -> Picture:
    """An image with a line around a region, black outside and white inside to be always visible."""
    shown = _enlarged(pixels)
    mask = _enlarged(region.mask.astype(np.uint8))
    line = np.ones((5, 5), np.uint8)
    shown[(cv2.dilate(mask, line) > 0) & (mask == 0)] = 0
    shown[(mask > 0) & (cv2.erode(mask, line, borderValue=0) == 0)] = 255
    return picture(shown, caption, side=SIDE)


def cut_out(pixels: Pixels, region: Region, caption: str) -> Picture:
    """The enlarged region alone, on gray."""
    left, top, right, bottom = region.box
    alone = np.where(region.mask[:, :, None], pixels, np.uint8(_GRAY))[top:bottom, left:right]
    return picture(_enlarged(alone), caption, side=SIDE)


def pasted(pixels: Pixels, caption: str) -> Picture:
    """An image with a pasted patch that its decision follows."""
    return picture(_enlarged(pixels), caption, "bad", side=SIDE)


def _box(position: str, side: int, left: int, top: int, width: int, height: int) -> Region:
    mask = np.zeros((side, side), dtype=bool)
    mask[top : top + height, left : left + width] = True
    return Region(position, (left, top, left + width, top + height), mask)


def _position(y: float, x: float, side: int) -> str:
    """The third of the image that contains a point, vertically and horizontally."""
    down = ("top", "", "bottom")[min(2, int(3 * y / side))]
    across = ("left", "", "right")[min(2, int(3 * x / side))]
    return f"{down} {across}".strip() or CENTER


def _enlarged(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The image enlarged by a whole number to at least `SIDE` on its longer side."""
    factor = -(-SIDE // max(pixels.shape[:2]))
    return np.ascontiguousarray(pixels.repeat(factor, axis=0).repeat(factor, axis=1))
