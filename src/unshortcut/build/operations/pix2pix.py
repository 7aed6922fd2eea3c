"""`pix2pix`: the filter that a Pix2Pix run has learned."""

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.pix2pix import GeneratorFilterSettings
from unshortcut.build.operation import Operation
from unshortcut.parts import settings
from unshortcut.randomness import Rng


@settings
class Pix2PixOperation(GeneratorFilterSettings, Operation):
    """Every image as the trained generator changes it."""

    name = "pix2pix"

    def apply(self, image: ImageArray, rng: Rng) -> ImageArray:
        return self.change(image)
