"""Regions of an image: cut out and pasted, or removed to find the most salient one.

They are squares, strips along the edges and a frame, all with about a sixteenth of the area of the
image, so that their effects are comparable. Occlusion after Zeiler and Fergus (2014) needs only the
decisions of a model. The replacement of a region must not be a cue itself: a gray square has
corners, and a blurred copy keeps the colors of the region. So it is filled from its surroundings.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from unshortcut.measuring.exhibits import Picture, picture
from unshortcut.measuring.subjects.images import Pixels, Prepared
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.progress import OnProgress, within
from unshortcut.randomness import generator

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
SIDE = 128
"""Side of the pictures in pixels."""
_GRAY = 128
_COARSE = 32
"""Side at which fillings are computed: they are smooth, so a finer grid would not change them."""
_REACH = _COARSE / 8
"""Standard deviation of the Gaussian weights: half the side of a square."""
_AT_ONCE = 64
"""Images whose regions are filled at the same time; bounds the memory."""


@dataclass(frozen=True)
class Region:
    """A region of an image with side S."""

    position: str
    """A description of its position."""
    box: tuple[int, int, int, int]
    """Left, top, right and bottom in pixels, the last two exclusive."""
    mask: NDArray[np.bool_]
    """(S, S)."""

    def shares(self) -> tuple[float, float, float, float]:
        """The box as shares of the side of the image."""
        left, top, right, bottom = (end / len(self.mask) for end in self.box)
        return left, top, right, bottom


def regions(side: int, steps: int = STEPS) -> tuple[Region, ...]:
    """Squares of a quarter of the side, four strips, and the frame.

    Args:
        steps: steps per side of a square; with 1 the squares lie side by side.
    """
    assert side >= SMALLEST
    square = round(side / PARTS)
    starts = np.linspace(0, side - square, (PARTS - 1) * steps + 1).round().astype(int).tolist()
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


def filled(pixels: Pixels, region: Region) -> Pixels:
    """The image (S, S, 3) with the region replaced by a smooth mean of its surroundings.

    The mean has Gaussian weights, with zero weight for the pixels of the region (normalized
    convolution, Knutsson and Westin 1993).
    """
    kept = (~region.mask).astype(np.float32)
    weighted = np.dstack([pixels * kept[:, :, None], kept])
    small = cv2.resize(weighted, (_COARSE, _COARSE), interpolation=cv2.INTER_AREA)
    around = cv2.GaussianBlur(small, (0, 0), _REACH, borderType=cv2.BORDER_REPLICATE)
    mean = around[:, :, :3] / np.maximum(around[:, :, 3:], np.finfo(np.float32).tiny)
    side = len(pixels)
    filling = cv2.resize(mean, (side, side), interpolation=cv2.INTER_LINEAR)
    replaced = np.where(region.mask[:, :, None], filling.round(), pixels)
    return replaced.astype(np.uint8)


def drops(
    subject: Subject,
    images: Prepared,
    decided: NDArray[np.int64],
    candidates: Sequence[Region],
    on_progress: OnProgress | None = None,
) -> NDArray[np.float64]:
    """How much the probability of the predicted class falls without each region, (N, R).

    Args:
        decided: (N,) indices of the predicted classes.
    """
    count, total = len(candidates), len(images) * len(candidates)
    before = _against(subject.probabilities(images), decided)
    after = []
    for first in range(0, len(images), _AT_ONCE):
        rows = np.arange(first, min(first + _AT_ONCE, len(images)))
        without = subject.probabilities(
            images.take(np.repeat(rows, count)),
            lambda pixels, at: filled(pixels, candidates[at % count]),
            None if on_progress is None else within(on_progress, first * count, total),
        )
        after.append(_against(without, np.repeat(decided[rows], count)).reshape(-1, count))
    return np.concatenate(after) - before[:, None]


def largest(falls: NDArray[np.float64], seed: int) -> NDArray[np.int64]:
    """The region (N,) with the largest fall (N, R); a random one among equals."""
    rows, count = falls.shape
    order = generator(seed, "occlusion").permuted(np.tile(np.arange(count), (rows, 1)), axis=1)
    first = np.take_along_axis(falls, order, axis=1).argmax(axis=1)
    return order[np.arange(rows), first]


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


def _against(probabilities: NDArray[np.float64], decided: NDArray[np.int64]) -> NDArray[np.float64]:
    """The probability (N,) of all other classes.

    It resolves changes of a confident decision that rounding hides in its own probability.
    """
    others = probabilities.copy()
    others[np.arange(len(others)), decided] = 0
    return others.sum(axis=1)
