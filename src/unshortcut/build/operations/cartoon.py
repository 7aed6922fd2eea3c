"""`cartoon`: flat colors with black outlines."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unshortcut.build.operation import Operation
from unshortcut.data.source import Array
from unshortcut.augmentations._filters import CartoonSettings


@dataclass(frozen=True)
class Cartoon(CartoonSettings, Operation):
    """A bilateral filter and, over it, the edges of what it leaves (dissertation, 2.3.3)."""

    name: ClassVar[str] = "cartoon"

    def apply(self, image: Array, rng: np.random.Generator) -> Array:
        return self.filtered(image)
