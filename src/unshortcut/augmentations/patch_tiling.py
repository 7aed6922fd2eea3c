"""Random patches of the image tiled anew: the patch-based negatives of papers on texture bias."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations._settings import (
    as_size,
    as_whole_range,
    check_probability,
    ends,
    height_and_width,
)
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.imaging.tiling import Tiles, sample_tiles, tile_patches


@dataclass(frozen=True)
class PatchTiling(Augmentation):
    """With probability p, patches from random places, tiled; texture stays, shape is gone.

    What is not tiled keeps its size, so put it where the image has the size asked for.
    """

    name: ClassVar[str] = "patch_tiling"

    size: int | tuple[int, int] = 224
    """Pixels of the result: a side, or height and width."""
    patch: int | tuple[int, int] = (16, 72)
    """The patches' side in pixels, or its range, both ends included; the papers' is for 224 px."""
    overlap: bool = True
    """Patches from independent places; if not, from places apart, or distinct if none are."""
    flip: bool = False
    """Flip single patches left to right at random."""
    vertical_flip: bool = False
    """Flip single patches upside down at random."""
    rotate: bool = False
    """Turn single patches by 0 to 3 quarters at random."""
    p: float = 1.0

    def __post_init__(self) -> None:
        check_probability(self.name, self.p)
        object.__setattr__(self, "size", as_size(self.name, self.size))
        object.__setattr__(self, "patch", as_whole_range(self.name, "patch", self.patch, 1))

    def sample(self, rng: np.random.Generator, height: int, width: int) -> Tiles | None:
        if rng.random() >= self.p:
            return None
        return sample_tiles(
            rng,
            height,
            width,
            patch=ends(self.patch),
            size=height_and_width(self.size),
            overlap=self.overlap,
            flip=self.flip,
            vertical_flip=self.vertical_flip,
            rotate=self.rotate,
        )

    def apply(self, image: ImageArray, params: Tiles | None) -> ImageArray:
        return image if params is None else tile_patches(image, params)

    def output_size(self, params: Tiles | None, height: int, width: int) -> tuple[int, int]:
        return (height, width) if params is None else height_and_width(self.size)
