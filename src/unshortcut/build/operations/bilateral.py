"""`bilateral`: averages each pixel with the neighbors of similar color."""

from typing import ClassVar

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations._filters import BilateralSettings
from unshortcut.build.operation import Operation
from unshortcut.parts import settings


@settings
class BilateralOperation(BilateralSettings, Operation):
    """OpenCV's bilateral filter, applied several times (dissertation, section 2.3.3)."""

    name: ClassVar[str] = "bilateral"

    def apply(self, image: ImageArray, rng: np.random.Generator) -> ImageArray:
        return self.change(image)
