"""Patch-based negatives: patches of an image, tiled at random.

Section 2.3 of "Robust Contrastive Learning Using Negative Samples with Diminished Semantics". In
the authors' code the patches come from the finished query view; in the paper, from the image.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Pipeline
from unshortcut.imaging.tiling import Tiles, sample_tiles, tile_patches
from unshortcut.randomness import Rng, generator
from unshortcut.views.transform import ViewContext, ViewTransform

PATCH_SHARE = (16 / 224, 72 / 224)
"""The paper's range of patch sides, relative to the side of the view."""


def patch_range(side: int) -> tuple[int, int]:
    """The paper's range of patch sizes for views of `side` pixels.

    >>> patch_range(224), patch_range(64)
    ((16, 72), (5, 21))
    """
    low, high = (max(1, round(share * side)) for share in PATCH_SHARE)
    return low, high


@dataclass(frozen=True)
class TiledView(ViewTransform):
    """Patches of the finished view `of`, a preceding view, tiled to the size of that view."""

    has_pipeline: ClassVar[bool] = False

    of: str = "query"
    patch: tuple[int, int] | None = None
    """Range of patch sides in pixels, inclusive; None for the paper's relative range."""
    overlap: bool = True
    flip: bool = False
    vertical_flip: bool = False
    rotate: bool = False

    def sample(self, context: ViewContext, pipeline: Pipeline, rng: Rng) -> int:
        return int(rng.integers(2**62))  # patches depend on the size of the view

    def apply(self, context: ViewContext, pipeline: Pipeline, sampled: int) -> ImageArray:
        view = context.views[self.of]
        return tile_patches(view, self.tiles(view, view, sampled))

    def shrink(self, pipeline: Pipeline, sampled: int) -> float:
        return math.inf  # made from another view, without decoding

    def tiles(self, image: ImageArray, like: ImageArray, seed: int) -> Tiles:
        """Tiles from an image (h, w, 3) for a result of the size of `like`."""
        height, width = image.shape[:2]
        size = like.shape[0], like.shape[1]
        return sample_tiles(
            generator(seed),
            height,
            width,
            patch=self.patch or patch_range(min(size)),
            size=size,
            overlap=self.overlap,
            flip=self.flip,
            vertical_flip=self.vertical_flip,
            rotate=self.rotate,
        )


@dataclass(frozen=True)
class TiledImage(TiledView):
    """Patches of the whole image at full resolution, tiled to the size of the view `of`."""

    def apply(self, context: ViewContext, pipeline: Pipeline, sampled: int) -> ImageArray:
        image = context.pixels()
        return tile_patches(image, self.tiles(image, context.views[self.of], sampled))

    def shrink(self, pipeline: Pipeline, sampled: int) -> float:
        return 1.0  # patches have the original resolution
