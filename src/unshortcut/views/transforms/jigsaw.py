"""Jigsaw pieces: crops from a 3 × 3 grid in random order (PIRL, InfoMin)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Pipeline
from unshortcut.randomness import Rng, generator
from unshortcut.views.transform import ViewContext, ViewTransform

GRID = 3
"""Pieces per side."""
PIECE_SHARE = 64 / 85
"""Side of a piece relative to its cell: 64 of 85 pixels in PyContrast, for images of 255."""


@dataclass(frozen=True)
class Jigsaw(ViewTransform):
    """The view's own augmentations, then a randomly placed piece from each cell of the grid.

    The pieces form one image in a random order; `models.heads.cut` separates them again.
    """

    def sample(self, context: ViewContext, pipeline: Pipeline, rng: Rng) -> tuple[list[Any], int]:
        sampled = pipeline.sample(rng, context.image.height, context.image.width)
        return sampled, int(rng.integers(2**62))  # pieces depend on the size of the view

    def apply(
        self, context: ViewContext, pipeline: Pipeline, sampled: tuple[list[Any], int]
    ) -> ImageArray:
        augmentations, seed = sampled
        return lay_out(context.apply(pipeline, augmentations), generator(seed))

    def shrink(self, pipeline: Pipeline, sampled: tuple[list[Any], int]) -> float:
        return pipeline.shrink(sampled[0])


def lay_out(image: ImageArray, rng: Rng) -> ImageArray:
    """Rearrange an image (h, w, 3) of at least 3 × 3 pixels into its pieces in random order."""
    cells = [side // GRID for side in image.shape[:2]]
    pieces = [max(1, round(PIECE_SHARE * cell)) for cell in cells]
    out = np.empty((GRID * pieces[0], GRID * pieces[1], 3), np.uint8)
    for index, cell in enumerate(rng.permutation(GRID * GRID)):
        (top, left), (to_top, to_left) = divmod(int(cell), GRID), divmod(index, GRID)
        down, right = (int(rng.integers(c - p + 1)) for c, p in zip(cells, pieces, strict=True))
        top, left = top * cells[0] + down, left * cells[1] + right
        piece = image[top : top + pieces[0], left : left + pieces[1]]
        out[to_top * pieces[0] :, to_left * pieces[1] :][: pieces[0], : pieces[1]] = piece
    return out
