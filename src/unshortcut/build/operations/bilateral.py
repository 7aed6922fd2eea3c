"""`bilateral`: each pixel becomes a mean of those neighbors that are alike in color."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations._filters import BilateralSettings
from unshortcut.build.operation import Operation


@dataclass(frozen=True)
class Bilateral(BilateralSettings, Operation):
    """OpenCV's bilateral filter, several times (dissertation, 2.3.3)."""

    name: ClassVar[str] = "bilateral"

    def apply(self, image: ImageArray, rng: np.random.Generator) -> ImageArray:
        return self.filtered(image)
