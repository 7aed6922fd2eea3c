"""`bilateral`: averages each pixel with the neighbors of similar color."""

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.bilateral_filter import BilateralSettings
from unshortcut.build.operation import Operation
from unshortcut.parts import settings
from unshortcut.randomness import Rng


@settings
class BilateralOperation(BilateralSettings, Operation):
    """OpenCV's bilateral filter, applied several times (dissertation, section 2.3.3)."""

    name = "bilateral"

    def apply(self, image: ImageArray, rng: Rng) -> ImageArray:
        return self.change(image)
