"""Crops a random box and resizes it: torchvision's `RandomResizedCrop`."""

import math
from typing import Annotated, NamedTuple

from unshortcut.arrays import FloatArray, ImageArray
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.data.regions import MaskArray
from unshortcut.fields import Pair, Size, ends, in_order
from unshortcut.imaging.boxes import resize_boxes
from unshortcut.imaging.geometry import (
    allowed_shrink,
    box_in_smaller,
    resize_box,
    resize_mask_box,
)
from unshortcut.parts import settings
from unshortcut.randomness import Rng

_TRIES = 10
_TINY = 1e-6


class Crop(NamedTuple):
    """A box in pixels of the full image, and the size of that image."""

    top: int
    left: int
    height: int
    width: int
    full_height: int
    full_width: int


@settings
class RandomResizedCrop(Augmentation):
    """Crops a box of random area and aspect ratio and resizes it with antialiasing."""

    name = "random_resized_crop"

    size: Size = 224
    """Size of the result in pixels: the side of a square, or height and width."""
    scale: Annotated[Pair, in_order(_TINY, 1)] = (0.2, 1.0)
    """Range of the area of the box as a fraction of the image's area."""
    ratio: Annotated[Pair, in_order(_TINY)] = (3 / 4, 4 / 3)
    """Range of width divided by height, sampled log-uniformly."""

    def sample(self, rng: Rng, height: int, width: int) -> Crop:
        for _ in range(_TRIES):
            box_width, box_height = sample_sides(rng, height * width, self.scale, self.ratio)
            if 0 < box_width <= width and 0 < box_height <= height:
                top = int(rng.integers(height - box_height + 1))
                left = int(rng.integers(width - box_width + 1))
                return Crop(top, left, box_height, box_width, height, width)
        box_height, box_width = self._largest(height, width)
        top, left = (height - box_height) // 2, (width - box_width) // 2
        return Crop(top, left, box_height, box_width, height, width)

    def apply(self, image: ImageArray, params: Crop) -> ImageArray:
        # The image may have been decoded at a smaller size than the box was sampled for.
        top, left, height, width, full_height, full_width = params
        box = box_in_smaller((top, left, height, width), full_height, full_width, image)
        return resize_box(image, box, *ends(self.size))

    def output_size(self, params: Crop, height: int, width: int) -> tuple[int, int]:
        return ends(self.size)

    def apply_boxes(self, boxes: FloatArray, params: Crop, height: int, width: int) -> FloatArray:
        return resize_boxes(boxes, params[:4], *ends(self.size))

    def apply_mask(self, mask: MaskArray, params: Crop) -> MaskArray:
        return resize_mask_box(mask, params[:4], *ends(self.size))

    def shrink(self, params: Crop) -> float:
        return allowed_shrink(params.height, params.width, *ends(self.size))

    def _largest(self, height: int, width: int) -> tuple[int, int]:
        """Height and width of the largest box with an allowed ratio."""
        low, high = self.ratio
        if width / height < low:
            return max(1, round(width / low)), width
        if width / height > high:
            return height, max(1, round(height * high))
        return height, width


def sample_sides(rng: Rng, area: int, scale: Pair, ratio: Pair) -> tuple[int, int]:
    """Sample the two sides of a box, as in torchvision.

    `scale` is the range of its area as a fraction of `area`, and `ratio` that of the first side
    divided by the second, sampled log-uniformly.
    """
    box_area = area * rng.uniform(*scale)
    quotient = math.exp(rng.uniform(math.log(ratio[0]), math.log(ratio[1])))
    return round(math.sqrt(box_area * quotient)), round(math.sqrt(box_area / quotient))
