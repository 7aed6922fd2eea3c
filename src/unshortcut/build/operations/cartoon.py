"""`cartoon`: flat colors with black outlines."""

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.cartoon import CartoonSettings
from unshortcut.build.operation import Operation
from unshortcut.parts import settings
from unshortcut.randomness import Rng


@settings
class CartoonOperation(CartoonSettings, Operation):
    """A bilateral filter with its edges drawn over it (dissertation, section 2.3.3)."""

    name = "cartoon"

    def apply(self, image: ImageArray, rng: Rng) -> ImageArray:
        return self.change(image)
