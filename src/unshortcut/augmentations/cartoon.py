"""Flat colors with black outlines, at random."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations._filters import CartoonSettings
from unshortcut.augmentations._settings import check_probability
from unshortcut.augmentations.augmentation import Augmentation


@dataclass(frozen=True)
class Cartoon(CartoonSettings, Augmentation):
    """With probability p, a bilateral filter and, over it, the edges of what it leaves."""

    name: ClassVar[str] = "cartoon"

    p: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_probability(self.name, self.p)

    def sample(self, rng: np.random.Generator, height: int, width: int) -> bool | None:
        return True if rng.random() < self.p else None

    def apply(self, image: ImageArray, params: bool | None) -> ImageArray:
        return self.filtered(image) if params else image
