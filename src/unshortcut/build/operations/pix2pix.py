"""`pix2pix`: the filter that a Pix2Pix run has learned."""

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.pix2pix import GeneratorFilterSettings
from unshortcut.build.operation import Operation
from unshortcut.parts import settings
from unshortcut.randomness import Rng
from unshortcut.translation.trained import load_generator


@settings
class Pix2PixOperation(GeneratorFilterSettings, Operation):
    """Every image as the trained generator changes it."""

    name = "pix2pix"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weights:
            load_generator(self.weights)  # a wrong path or file is an error here

    def apply(self, image: ImageArray, rng: Rng) -> ImageArray:
        return self.change(image)
