"""The whole image resized with antialiasing, for evaluation: torchvision's `Resize`."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations._settings import as_size
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.imaging.geometry import allowed_shrink, box_in_smaller, resize_box


class Sizes(NamedTuple):
    """Of the result, and of the full image."""

    height: int
    width: int
    full_height: int
    full_width: int


@dataclass(frozen=True)
class Resize(Augmentation):
    """A size given as one number is that of the shorter side; two numbers are height and width."""

    name: ClassVar[str] = "resize"

    size: int | tuple[int, int] = 256

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", as_size(self.name, self.size))

    def sample(self, rng: np.random.Generator, height: int, width: int) -> Sizes:
        """Nothing is random."""
        if isinstance(self.size, tuple):
            return Sizes(*self.size, height, width)
        if height <= width:
            return Sizes(self.size, self.size * width // height, height, width)
        return Sizes(self.size * height // width, self.size, height, width)

    def apply(self, image: ImageArray, params: Sizes) -> ImageArray:
        whole = (0.0, 0.0, params.full_height, params.full_width)
        box = box_in_smaller(whole, params.full_height, params.full_width, image)
        return resize_box(image, box, params.height, params.width)

    def output_size(self, params: Sizes, height: int, width: int) -> tuple[int, int]:
        return params.height, params.width

    def shrink(self, params: Sizes) -> float:
        return allowed_shrink(params.full_height, params.full_width, params.height, params.width)
