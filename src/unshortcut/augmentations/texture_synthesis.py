"""Replaces the image by texture synthesized from two of its patches (NSN, section 2.2)."""

from typing import NamedTuple

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.fields import PositiveInt, Probability, Size, ends
from unshortcut.imaging.synthesis import cut_patches, patch_side, synthesize_texture
from unshortcut.parts import settings
from unshortcut.randomness import Rng


class TextureParams(NamedTuple):
    """Side of the example patches, corner of the random patch, and seed of the synthesis."""

    side: int
    top: int
    left: int
    seed: int


@settings
class TextureSynthesis(Augmentation):
    """With probability p, synthesizes texture from the central and a random patch."""

    name = "texture_synthesis"
    keeps_layout = False

    size: Size = 224
    """Size of the result in pixels: the side of a square, or height and width."""
    patch: PositiveInt | None = None
    """Side of the patches; None for 96 if the image is large enough, else 48, else its side."""
    p: Probability = 1.0

    def sample(self, rng: Rng, height: int, width: int) -> TextureParams | None:
        side = patch_side(height, width, self.patch)
        chance = rng.random()
        top, left, seed = rng.integers((height - side + 1, width - side + 1, 2**31)).tolist()
        return TextureParams(side, top, left, seed) if chance < self.p else None

    def apply(self, image: ImageArray, params: TextureParams | None) -> ImageArray:
        if params is None:
            return image
        patches = cut_patches(image, params.side, params.top, params.left)
        return synthesize_texture(patches, *ends(self.size), seed=params.seed)

    def output_size(self, params: TextureParams | None, height: int, width: int) -> tuple[int, int]:
        return (height, width) if params is None else ends(self.size)
