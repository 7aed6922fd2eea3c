"""The middle of the image, for evaluation: torchvision's `CenterCrop`."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations._settings import as_size, height_and_width
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.imaging.geometry import crop


@dataclass(frozen=True)
class CenterCrop(Augmentation):
    """A box of the given size in the middle; black where the image is smaller."""

    name: ClassVar[str] = "center_crop"

    size: int | tuple[int, int] = 224

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", as_size(self.name, self.size))

    def sample(self, rng: np.random.Generator, height: int, width: int) -> None:
        """Nothing is random."""

    def apply(self, image: ImageArray, params: None) -> ImageArray:
        height, width = height_and_width(self.size)
        return crop(
            image, _start(image.shape[0], height), _start(image.shape[1], width), height, width
        )

    def output_size(self, params: None, height: int, width: int) -> tuple[int, int]:
        return height_and_width(self.size)


def _start(length: int, wanted: int) -> int:
    """Where the middle begins, rounded as torchvision does: before the image if that is shorter."""
    return -((wanted - length) // 2) if wanted > length else round((length - wanted) / 2)
