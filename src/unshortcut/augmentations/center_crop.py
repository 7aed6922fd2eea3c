"""Crops the center of the image, for evaluation: torchvision's `CenterCrop`."""

from typing import ClassVar

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.fields import Size, ends
from unshortcut.imaging.geometry import crop
from unshortcut.parts import settings


@settings
class CenterCrop(Augmentation):
    """Crops a box of the given size at the center; black where the image is smaller."""

    name: ClassVar[str] = "center_crop"

    size: Size = 224

    def sample(self, rng: np.random.Generator, height: int, width: int) -> None:
        """Nothing is random."""

    def apply(self, image: ImageArray, params: None) -> ImageArray:
        height, width = ends(self.size)
        return crop(
            image, _start(image.shape[0], height), _start(image.shape[1], width), height, width
        )

    def output_size(self, params: None, height: int, width: int) -> tuple[int, int]:
        return ends(self.size)


def _start(length: int, wanted: int) -> int:
    """First pixel of the box, rounded as in torchvision; negative if the image is smaller."""
    return -((wanted - length) // 2) if wanted > length else round((length - wanted) / 2)
