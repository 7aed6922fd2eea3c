"""`cartoon`: flat colors with black outlines."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations._filters import CartoonSettings
from unshortcut.build.operation import Operation


@dataclass(frozen=True)
class Cartoon(CartoonSettings, Operation):
    """A bilateral filter and, over it, the edges of what it leaves (dissertation, 2.3.3)."""

    name: ClassVar[str] = "cartoon"

    def apply(self, image: ImageArray, rng: np.random.Generator) -> ImageArray:
        return self.filtered(image)
