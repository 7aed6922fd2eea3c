"""A random part of the image, resized: torchvision's `RandomResizedCrop`."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations._settings import as_range, as_size, height_and_width
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.imaging.geometry import allowed_shrink, box_in_smaller, resize_box

_TRIES = 10


class Crop(NamedTuple):
    """A box in pixels of the full image, and that image's size."""

    top: int
    left: int
    height: int
    width: int
    full_height: int
    full_width: int


@dataclass(frozen=True)
class RandomResizedCrop(Augmentation):
    """A box with an area and an aspect ratio drawn at random, resized with antialiasing."""

    name: ClassVar[str] = "random_resized_crop"

    size: int | tuple[int, int] = 224
    """Pixels of the result: a side, or height and width."""
    scale: tuple[float, float] = (0.2, 1.0)
    """Range of the box's part of the image's area."""
    ratio: tuple[float, float] = (3 / 4, 4 / 3)
    """Range of width over height, drawn log-uniformly."""

    def __post_init__(self) -> None:
        tiny = 1e-6
        object.__setattr__(self, "size", as_size(self.name, self.size))
        object.__setattr__(self, "scale", as_range(self.name, "scale", self.scale, tiny, 1.0))
        object.__setattr__(self, "ratio", as_range(self.name, "ratio", self.ratio, tiny))

    def sample(self, rng: np.random.Generator, height: int, width: int) -> Crop:
        log_low, log_high = math.log(self.ratio[0]), math.log(self.ratio[1])
        for _ in range(_TRIES):
            area = height * width * rng.uniform(*self.scale)
            ratio = math.exp(rng.uniform(log_low, log_high))
            box_width = round(math.sqrt(area * ratio))
            box_height = round(math.sqrt(area / ratio))
            if 0 < box_width <= width and 0 < box_height <= height:
                top = int(rng.integers(height - box_height + 1))
                left = int(rng.integers(width - box_width + 1))
                return Crop(top, left, box_height, box_width, height, width)
        box_height, box_width = self._largest(height, width)
        top, left = (height - box_height) // 2, (width - box_width) // 2
        return Crop(top, left, box_height, box_width, height, width)

    def apply(self, image: ImageArray, params: Crop) -> ImageArray:
        # The image may have been decoded smaller than the one that the box was drawn for.
        top, left, height, width, full_height, full_width = params
        box = box_in_smaller((top, left, height, width), full_height, full_width, image)
        return resize_box(image, box, *height_and_width(self.size))

    def output_size(self, params: Crop, height: int, width: int) -> tuple[int, int]:
        return height_and_width(self.size)

    def shrink(self, params: Crop) -> float:
        return allowed_shrink(params.height, params.width, *height_and_width(self.size))

    def _largest(self, height: int, width: int) -> tuple[int, int]:
        """Height and width of the largest box whose ratio is allowed."""
        low, high = self.ratio
        if width / height < low:
            return max(1, round(width / low)), width
        if width / height > high:
            return height, max(1, round(height * high))
        return height, width
