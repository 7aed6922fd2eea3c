"""`texture`: replaces an image by texture synthesized from two of its patches."""

from typing import Annotated

from pydantic import Field

from unshortcut.arrays import ImageArray
from unshortcut.build.operation import Operation
from unshortcut.fields import Integer, PositiveInt
from unshortcut.imaging.synthesis import example_patches, synthesize_texture
from unshortcut.parts import settings
from unshortcut.randomness import Rng


@settings
class TextureOperation(Operation):
    """A square texture from the central and a random patch (NSN, section 2.2)."""

    name = "texture"

    size: Annotated[Integer, Field(ge=1, le=4096)] = 224
    """Side of the result in pixels."""
    patch: PositiveInt | None = None
    """Side of the patches; None for 96, 48 or the whole image, the largest that fits."""

    def apply(self, image: ImageArray, rng: Rng) -> ImageArray:
        patches = example_patches(image, rng, self.patch)
        return synthesize_texture(patches, self.size, self.size, seed=int(rng.integers(2**62)))
