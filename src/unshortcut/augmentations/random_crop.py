"""A box of fixed size at a random place, for small images: torchvision's padded `RandomCrop`."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations._settings import as_size, check_number, height_and_width
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.imaging.geometry import crop


@dataclass(frozen=True)
class RandomCrop(Augmentation):
    """The image gets a black border, and more of it where it is smaller than the box."""

    name: ClassVar[str] = "random_crop"

    size: int | tuple[int, int] = 32
    padding: int = 4

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", as_size(self.name, self.size))
        check_number(self.name, "padding", self.padding, 0, 10_000)

    def sample(self, rng: np.random.Generator, height: int, width: int) -> tuple[int, int]:
        """Top and left of the box in pixels of the image; in the border they are negative."""
        box_height, box_width = height_and_width(self.size)
        return self._start(rng, height, box_height), self._start(rng, width, box_width)

    def apply(self, image: ImageArray, params: tuple[int, int]) -> ImageArray:
        return crop(image, *params, *height_and_width(self.size))

    def output_size(self, params: tuple[int, int], height: int, width: int) -> tuple[int, int]:
        return height_and_width(self.size)

    def _start(self, rng: np.random.Generator, length: int, wanted: int) -> int:
        border = self.padding + max(0, wanted - length - 2 * self.padding)
        return int(rng.integers(length + 2 * border - wanted + 1)) - border
