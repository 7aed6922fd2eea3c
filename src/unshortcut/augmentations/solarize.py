"""Bright samples inverted at random: torchvision's `RandomSolarize`."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations._settings import check_number, check_probability
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.imaging.color import solarize


@dataclass(frozen=True)
class Solarize(Augmentation):
    """With probability p, samples of at least the threshold become 255 minus themselves."""

    name: ClassVar[str] = "solarize"

    threshold: float = 128.0
    p: float = 0.2

    def __post_init__(self) -> None:
        check_probability(self.name, self.p)
        check_number(self.name, "threshold", self.threshold, 0, 256)

    def sample(self, rng: np.random.Generator, height: int, width: int) -> bool | None:
        return True if rng.random() < self.p else None

    def apply(self, image: ImageArray, params: bool | None) -> ImageArray:
        return solarize(image, self.threshold) if params else image
