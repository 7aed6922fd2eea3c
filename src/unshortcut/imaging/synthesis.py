"""Texture synthesis: an image that looks locally like its examples and keeps nothing else of them.

Multiresolution stochastic synthesis, as in the tool that the papers used (texture-based
negatives, NSN 2.2): pixels are resolved in random order, coarse to fine, each taking the source
pixel whose surroundings are most like its own neighbors. Three things are different here:
candidates that neighbors agree on are compared once; neighbors come from a list of steps
instead of a search tree; and a source that is used more than its share costs more (after Kopf et
al. 2007, who hold the histogram), so that one example, or one flat part of it, cannot take over.
"""

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import ImageArray
from unshortcut.imaging._synthesis_kernel import NEIGHBORS, REACH, WEIGHT_SUM, resolve, shuffled

Ints = NDArray[np.int64]

PATCH_SIDES = (96, 48)
"""Sides of example patches, the larger one for images that have room for it."""


class Stage(NamedTuple):
    """All pixels resolved so far are resolved again, then new ones up to the share."""

    share: float
    """Part of the result's pixels that are resolved after the stage."""
    blur: float
    """Standard deviation, in pixels, of the Gaussian that the examples are seen through."""
    randoms: int
    """Random candidates beside those of the neighbors."""
    pressure: float
    """Cost of a source that is used twice as much as is fair, in variances of the examples."""


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
    """A texture of uint8 (height, width, 3), every pixel of which is one of the examples' pixels.

    examples: one or more uint8 (h, w, 3), of any sizes; each is used according to its area.
    The same examples, size and seed give the same bytes.
    """
    _check(examples, height, width)
    cells = _cells(examples, max(int(STAGES[0].share * height * width), 1))
    places = np.flatnonzero(cells >= 0)
    sizes = np.bincount(cells.ravel()[places])
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
            places,
            down * stride + across,
            down * cells.shape[1] + across,
            _weights(),
            stage.randoms,
            uses,
            sizes / places.size,
            owners,
            np.bincount(owners, sizes) / places.size,
            stage.pressure * float(variance) * WEIGHT_SUM,
            seen,
            state,
        )
    inner = sources.reshape(-1, stride)[REACH:-REACH, REACH:-REACH]
    colors = _atlas(examples, 0.0, cells.shape)[inner]
    return np.ascontiguousarray(colors.view(np.uint8).reshape(height, width, 4)[..., :3])


def example_patches(
    image: ImageArray, rng: np.random.Generator, side: int | None = None
) -> list[ImageArray]:
    """Two square patches of a uint8 (h, w, 3) image: its center, and one at a random place.

    side: of the patches; None takes 96 where both sides of the image allow, else 48, else the
    shorter side. A side that is too long for the image is shortened to fit.
    """
    height, width = image.shape[:2]
    side = patch_side(height, width, side)
    top, left = rng.integers((height - side + 1, width - side + 1)).tolist()
    return cut_patches(image, side, top, left)


def patch_side(height: int, width: int, side: int | None = None) -> int:
    """The side of the example patches of an image of height × width; see `example_patches`."""
    shorter = min(height, width)
    if shorter < 1 or (side is not None and side < 1):
        raise ValueError(f"no patch of side {side} in an image of {height}×{width} pixels")
    if side is not None:
        return min(side, shorter)
    return next((one for one in PATCH_SIDES if one <= shorter), shorter)


def cut_patches(image: ImageArray, side: int, top: int, left: int) -> list[ImageArray]:
    """The square patches of an image in its center and at (top, left)."""
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


def _cells(examples: Sequence[ImageArray], first: int) -> Ints:
    """The number of each atlas place's cell, -1 in the margins; cells are what uses are counted of.

    `first`: pixels of the first stage, of which a cell shall get a few.
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


def _owners(examples: Sequence[ImageArray], cells: Ints) -> Ints:
    """The number of the example that each cell lies in."""
    ends = np.cumsum([one.shape[0] + 2 * REACH for one in examples])
    cell_counts = np.diff([cells[:end].max() + 1 for end in ends], prepend=0)
    return np.repeat(np.arange(len(examples)), cell_counts)


def _atlas(
    examples: Sequence[ImageArray], blur: float, shape: tuple[int, ...]
) -> NDArray[np.uint32]:
    """All examples below each other, blurred, mirrored into a margin; flat, a color a number."""
    atlas = np.zeros((*shape, 4), np.uint8)
    top = 0
    for example in examples:
        seen = np.ascontiguousarray(example)
        if blur > 0:
            # On uint8 OpenCV's is exact, the same on any processor.
            seen = cv2.GaussianBlur(seen, (0, 0), blur, borderType=cv2.BORDER_REFLECT)
        padded = cv2.copyMakeBorder(seen, REACH, REACH, REACH, REACH, cv2.BORDER_REFLECT)
        atlas[top : top + padded.shape[0], : padded.shape[1], :3] = padded
        top += padded.shape[0]
    return atlas.view(np.uint32).ravel()


@cache
def _spiral() -> tuple[Ints, Ints]:
    """Steps down and across to all places within reach, nearest first, the place itself too."""
    down, across = (axis.ravel() for axis in np.mgrid[-REACH : REACH + 1, -REACH : REACH + 1])
    distance = down**2 + across**2
    order = np.argsort(distance, kind="stable")
    order = order[distance[order] <= REACH**2]
    return down[order], across[order]


@cache
def _weights() -> Ints:
    """Weights of the neighbors, nearest first.

    A Gaussian of the distance: the k nearest of evenly strewn pixels cover an area that grows
    with k, so the weight falls with the rank alone.
    """
    falling = _LAST_WEIGHT ** (np.arange(NEIGHBORS) / NEIGHBORS)
    return np.round(falling / falling.sum() * WEIGHT_SUM).astype(np.int64)
