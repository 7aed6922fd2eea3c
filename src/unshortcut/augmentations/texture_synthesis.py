"""The image's texture and nothing else of it: synthesized from two patches (NSN, sec. 2.2)."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations._settings import as_size, check_probability, height_and_width
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.errors import UsageError
from unshortcut.imaging.synthesis import cut_patches, patch_side, synthesize_texture


class Texture(NamedTuple):
    """Side of the example patches, corner of the random one, and seed of the synthesis."""

    side: int
    top: int
    left: int
    seed: int


@dataclass(frozen=True)
class TextureSynthesis(Augmentation):
    """With probability p, a texture made of the image's center and of a random patch."""

    name: ClassVar[str] = "texture_synthesis"

    size: int | tuple[int, int] = 224
    """Pixels of the result: a side, or height and width."""
    patch: int | None = None
    """Side of the patches; None: 96 where the image allows, else 48, else its shorter side."""
    p: float = 1.0

    def __post_init__(self) -> None:
        check_probability(self.name, self.p)
        object.__setattr__(self, "size", as_size(self.name, self.size))
        is_side = isinstance(self.patch, int) and not isinstance(self.patch, bool)
        if self.patch is not None and not (is_side and self.patch >= 1):
            raise UsageError(f"{self.name}.patch must be a number of pixels, not {self.patch!r}")

    def sample(self, rng: np.random.Generator, height: int, width: int) -> Texture | None:
        side = patch_side(height, width, self.patch)
        chance = rng.random()
        top, left, seed = rng.integers((height - side + 1, width - side + 1, 2**31)).tolist()
        return Texture(side, top, left, seed) if chance < self.p else None

    def apply(self, image: ImageArray, params: Texture | None) -> ImageArray:
        if params is None:
            return image
        patches = cut_patches(image, params.side, params.top, params.left)
        return synthesize_texture(patches, *height_and_width(self.size), seed=params.seed)

    def output_size(self, params: Texture | None, height: int, width: int) -> tuple[int, int]:
        return (height, width) if params is None else height_and_width(self.size)
