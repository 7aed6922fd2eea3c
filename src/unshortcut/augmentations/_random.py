"""The base of augmentations in which nothing is random but whether they are applied."""

from abc import abstractmethod

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Augmentation


class RandomlyApplied(Augmentation):
    """Applies `change` with probability `p`."""

    p: float

    @abstractmethod
    def change(self, image: ImageArray) -> ImageArray:
        """The changed image, uint8 (h, w, 3)."""

    def sample(self, rng: np.random.Generator, height: int, width: int) -> bool | None:
        return True if rng.random() < self.p else None

    def apply(self, image: ImageArray, params: bool | None) -> ImageArray:
        return self.change(image) if params else image
