"""Texture synthesis: an image that locally resembles its examples but has no larger structure.

Multiresolution stochastic synthesis, as in the tool that the papers used for texture-based
negatives ("Robust Contrastive Learning Using Negative Samples with Diminished Semantics", section
2.2): pixels are resolved in random order, coarse to fine, and each gets the source pixel whose
surroundings best match its own neighbors. There are three differences: candidates proposed by
several neighbors are compared once, neighbors are found by a list of offsets instead of a search
tree, and a source that is used more than its share costs more (after Kopf et al. 2007, who match
the histogram), so that one example, or a flat part of it, cannot dominate.
"""

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import ImageArray, IndexArray
from unshortcut.imaging._synthesis_kernel import NEIGHBORS, REACH, WEIGHT_SUM, resolve, shuffled
from unshortcut.randomness import Rng

PATCH_SIDES = (96, 48)
"""Sides of example patches in pixels; the larger one is used if it fits into the image."""


class Stage(NamedTuple):
    """A stage resolves all previous pixels again, then new ones until `share` is reached."""

    share: float
    """Fraction of the result's pixels that are resolved after the stage."""
    blur: float
    """Standard deviation, in pixels, of the Gaussian blur applied to the examples."""
    randoms: int
    """Number of random candidates in addition to those of the neighbors."""
    pressure: float
    """Cost of a source used twice as often as its fair share, in variances of the examples."""


STAGES = (
    Stage(1 / 32, 2.0, 32, 1.6),
    Stage(1 / 16, 1.0, 8, 0.8),
    Stage(1 / 8, 0.5, 4, 0.4),
    Stage(1 / 4, 0.0, 2, 0.2),
    Stage(1 / 2, 0.0, 1, 0.1),
    Stage(1.0, 0.0, 50, 0.05),
)
_LAST_WEIGHT = math.exp(-4)
_CELL, _CELL_USES = 8, 5


def synthesize_texture(
    examples: Sequence[ImageArray], height: int = 224, width: int = 224, *, seed: int = 0
) -> ImageArray:
    """Synthesize a uint8 (height, width, 3) texture out of the examples' pixels.

    Args:
        examples: one or more uint8 (h, w, 3) images of any size; each is used in proportion to
            its area.
        height, width: size of the result.
        seed: random seed; the same examples, size and seed give the same bytes.
    """
    _check(examples, height, width)
    cells = _cells(examples, max(int(STAGES[0].share * height * width), 1))
    positions = np.flatnonzero(cells >= 0)
    sizes = np.bincount(cells.ravel()[positions])
    owners = _owners(examples, cells)
    variance = np.concatenate([one.reshape(-1, 3) for one in examples]).var(axis=0).sum()

    stride = width + 2 * REACH
    sources = np.full((height + 2 * REACH) * stride, -1, np.int64)
    state = np.array([seed % 2**64], np.uint64)
    order = shuffled(height * width, state)
    order = (order // width + REACH) * stride + order % width + REACH
    down, across = _spiral()
    uses = np.zeros(sizes.size, np.int64)
    seen = np.zeros(cells.size, np.int64)
    for stage in STAGES:
        resolve(
            order[: max(int(stage.share * height * width), 1)],
            sources,
            _atlas(examples, stage.blur, cells.shape),
            cells.ravel(),
            positions,
            down * stride + across,
            down * cells.shape[1] + across,
            _weights(),
            stage.randoms,
            uses,
            sizes / positions.size,
            owners,
            np.bincount(owners, sizes) / positions.size,
            stage.pressure * float(variance) * WEIGHT_SUM,
            seen,
            state,
        )
    inner = sources.reshape(-1, stride)[REACH:-REACH, REACH:-REACH]
    colors = _atlas(examples, 0.0, cells.shape)[inner]
    return np.ascontiguousarray(colors.view(np.uint8).reshape(height, width, 4)[..., :3])


def example_patches(image: ImageArray, rng: Rng, side: int | None = None) -> list[ImageArray]:
    """Two square patches of a uint8 (h, w, 3) image: its center, and one at a random position.

    Args:
        side: side of the patches; None uses 96 if the image is large enough, otherwise 48, or the
            shorter side of the image. A side too long for the image is reduced.
    """
    height, width = image.shape[:2]
    side = patch_side(height, width, side)
    top, left = rng.integers((height - side + 1, width - side + 1)).tolist()
    return cut_patches(image, side, top, left)


def patch_side(height: int, width: int, side: int | None = None) -> int:
    """Side of the example patches of a height × width image; see `example_patches`."""
    shorter = min(height, width)
    if shorter < 1 or (side is not None and side < 1):
        raise ValueError(f"a {height}×{width} image has no patches of side {side}")
    if side is not None:
        return min(side, shorter)
    return next((one for one in PATCH_SIDES if one <= shorter), shorter)


def cut_patches(image: ImageArray, side: int, top: int, left: int) -> list[ImageArray]:
    """Cut two square patches from an image: in its center and at (top, left)."""
    height, width = image.shape[:2]
    corners = (((height - side) // 2, (width - side) // 2), (top, left))
    return [image[y : y + side, x : x + side].copy() for y, x in corners]


def _check(examples: Sequence[ImageArray], height: int, width: int) -> None:
    if height < 1 or width < 1:
        raise ValueError(f"the result must have at least 1×1 pixels, not {height}×{width}")
    if len(examples) == 0:
        raise ValueError("texture synthesis needs at least one example")
    for number, example in enumerate(examples):
        if example.dtype != np.uint8 or example.ndim != 3 or example.shape[2] != 3:
            raise ValueError(
                f"example {number} must be uint8 (h, w, 3), not {example.dtype} {example.shape}"
            )
        if example.size == 0:
            raise ValueError(f"example {number} has no pixels: its shape is {example.shape}")


def _cells(examples: Sequence[ImageArray], first: int) -> IndexArray:
    """The cell number of each position in the atlas, -1 in the margins; uses are counted per cell.

    `first` is the number of pixels in the first stage, of which each cell should get a few.
    """
    pixels = sum(one.shape[0] * one.shape[1] for one in examples)
    side = max(_CELL, math.ceil(math.sqrt(_CELL_USES * pixels / first)))
    rows = sum(one.shape[0] + 2 * REACH for one in examples)
    cells = np.full((rows, max(one.shape[1] for one in examples) + 2 * REACH), -1, np.int64)
    top = number = 0
    for height, width, _ in (one.shape for one in examples):
        lines, columns = np.mgrid[:height, :width] // side
        numbers = number + lines * math.ceil(width / side) + columns
        cells[top + REACH :, REACH:][:height, :width] = numbers
        number = int(numbers[-1, -1]) + 1
        top += height + 2 * REACH
    return cells


def _owners(examples: Sequence[ImageArray], cells: IndexArray) -> IndexArray:
    """The index of the example that each cell belongs to."""
    ends = np.cumsum([one.shape[0] + 2 * REACH for one in examples])
    cell_counts = np.diff([cells[:end].max() + 1 for end in ends], prepend=0)
    return np.repeat(np.arange(len(examples)), cell_counts)


def _atlas(
    examples: Sequence[ImageArray], blur: float, shape: tuple[int, ...]
) -> NDArray[np.uint32]:
    """All examples below each other, blurred and padded by reflection; flat, a uint32 per pixel."""
    atlas = np.zeros((*shape, 4), np.uint8)
    top = 0
    for example in examples:
        blurred = np.ascontiguousarray(example)
        if blur > 0:
            # For uint8, OpenCV's blur is exact and the same on any processor.
            blurred = cv2.GaussianBlur(blurred, (0, 0), blur, borderType=cv2.BORDER_REFLECT)
        padded = cv2.copyMakeBorder(blurred, REACH, REACH, REACH, REACH, cv2.BORDER_REFLECT)
        atlas[top : top + padded.shape[0], : padded.shape[1], :3] = padded
        top += padded.shape[0]
    return atlas.view(np.uint32).ravel()


@cache
def _spiral() -> tuple[IndexArray, IndexArray]:
    """Vertical and horizontal offsets up to REACH, nearest first; the first one is (0, 0)."""
    down, across = (axis.ravel() for axis in np.mgrid[-REACH : REACH + 1, -REACH : REACH + 1])
    distance = down**2 + across**2
    order = np.argsort(distance, kind="stable")
    order = order[distance[order] <= REACH**2]
    return down[order], across[order]


@cache
def _weights() -> IndexArray:
    """Weights of the neighbors, nearest first.

    They are a Gaussian of the distance: the k nearest of uniformly distributed pixels cover an area
    proportional to k, so the weight depends on the rank only.
    """
    falling = _LAST_WEIGHT ** (np.arange(NEIGHBORS) / NEIGHBORS)
    return np.round(falling / falling.sum() * WEIGHT_SUM).astype(np.int64)
