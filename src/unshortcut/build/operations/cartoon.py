"""`cartoon`: flat colors with black outlines."""

from typing import ClassVar

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations._filters import CartoonSettings
from unshortcut.build.operation import Operation
from unshortcut.parts import settings


@settings
class CartoonOperation(CartoonSettings, Operation):
    """A bilateral filter with its edges drawn over it (dissertation, section 2.3.3)."""

    name: ClassVar[str] = "cartoon"

    def apply(self, image: ImageArray, rng: np.random.Generator) -> ImageArray:
        return self.change(image)
