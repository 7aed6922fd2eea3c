"""`texture`: an image's texture and nothing else of it, synthesized from two of its patches."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from unshortcut.arrays import ImageArray
from unshortcut.build.operation import Operation
from unshortcut.imaging.synthesis import example_patches, synthesize_texture


@dataclass(frozen=True)
class Texture(Operation):
    """A square texture out of the center and a random place of the image (NSN, 2.2)."""

    name: ClassVar[str] = "texture"

    size: Annotated[int, Field(ge=1, le=4096)] = 224
    """The side of the result in pixels."""
    patch: Annotated[int, Field(ge=1)] | None = None
    """The side of the patches; None takes 96, 48 or the whole image, the largest that fits."""

    def apply(self, image: ImageArray, rng: np.random.Generator) -> ImageArray:
        patches = example_patches(image, rng, self.patch)
        return synthesize_texture(patches, self.size, self.size, seed=int(rng.integers(2**62)))
