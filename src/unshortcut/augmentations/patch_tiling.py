"""Tiles random patches of the image: the patch-based non-semantic negatives (NSN, section 2.3)."""

from typing import Annotated

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.fields import Probability, Size, ends, in_order
from unshortcut.imaging.tiling import Tiles, sample_tiles, tile_patches
from unshortcut.parts import settings
from unshortcut.randomness import Rng


@settings
class PatchTiling(Augmentation):
    """With probability p, tiles patches from random positions: keeps texture, destroys shape.

    An image that is not tiled keeps its size, so it should already have the size of the result.
    """

    name = "patch_tiling"
    keeps_layout = False

    size: Size = 224
    """Size of the result in pixels: the side of a square, or height and width."""
    patch: Annotated[int | tuple[int, int], in_order(1, form="one or two integers")] = (16, 72)
    """Side of the patches in pixels, or its range, both ends included; NSN's is for 224 px."""
    overlap: bool = True
    """Whether positions are independent; otherwise patches are disjoint, or at least distinct."""
    flip: bool = False
    """Flip single patches left to right at random."""
    vertical_flip: bool = False
    """Flip single patches upside down at random."""
    rotate: bool = False
    """Rotate single patches by a random multiple of 90 degrees."""
    p: Probability = 1.0

    def sample(self, rng: Rng, height: int, width: int) -> Tiles | None:
        if rng.random() >= self.p:
            return None
        return sample_tiles(
            rng,
            height,
            width,
            patch=ends(self.patch),
            size=ends(self.size),
            overlap=self.overlap,
            flip=self.flip,
            vertical_flip=self.vertical_flip,
            rotate=self.rotate,
        )

    def apply(self, image: ImageArray, params: Tiles | None) -> ImageArray:
        return image if params is None else tile_patches(image, params)

    def output_size(self, params: Tiles | None, height: int, width: int) -> tuple[int, int]:
        return (height, width) if params is None else ends(self.size)
