"""Gray in all three channels at random: torchvision's `RandomGrayscale`."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations._settings import check_probability
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.imaging.color import gray


@dataclass(frozen=True)
class Grayscale(Augmentation):
    """With probability p, the luma in all three channels."""

    name: ClassVar[str] = "grayscale"

    p: float = 0.2

    def __post_init__(self) -> None:
        check_probability(self.name, self.p)

    def sample(self, rng: np.random.Generator, height: int, width: int) -> bool | None:
        return True if rng.random() < self.p else None

    def apply(self, image: ImageArray, params: bool | None) -> ImageArray:
        return gray(image) if params else image
