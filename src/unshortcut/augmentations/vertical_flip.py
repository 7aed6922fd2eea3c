"""Top and bottom exchanged at random: torchvision's `RandomVerticalFlip`."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations._settings import check_probability
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.imaging.geometry import flip_vertical


@dataclass(frozen=True)
class VerticalFlip(Augmentation):
    """With probability p, top and bottom exchanged."""

    name: ClassVar[str] = "vertical_flip"

    p: float = 0.5

    def __post_init__(self) -> None:
        check_probability(self.name, self.p)

    def sample(self, rng: np.random.Generator, height: int, width: int) -> bool | None:
        return True if rng.random() < self.p else None

    def apply(self, image: ImageArray, params: bool | None) -> ImageArray:
        return flip_vertical(image) if params else image
