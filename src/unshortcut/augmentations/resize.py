"""Resizes the image with antialiasing, for evaluation: torchvision's `Resize`."""

from typing import NamedTuple

from unshortcut.arrays import FloatArray, ImageArray
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.data.regions import MaskArray
from unshortcut.fields import Size
from unshortcut.imaging.boxes import resize_boxes
from unshortcut.imaging.geometry import (
    Box,
    allowed_shrink,
    box_in_smaller,
    resize_box,
    resize_mask_box,
)
from unshortcut.parts import settings
from unshortcut.randomness import Rng


class Sizes(NamedTuple):
    """Height and width of the result and of the full image."""

    height: int
    width: int
    full_height: int
    full_width: int

    @property
    def whole(self) -> Box:
        """The full image as a box of itself."""
        return 0.0, 0.0, self.full_height, self.full_width


class Resizing(Augmentation):
    """The base of augmentations that resize the whole image to the size that they sample."""

    def apply(self, image: ImageArray, params: Sizes) -> ImageArray:
        if image.shape[:2] == (params.height, params.width) == (*params[2:],):
            return image  # resizing would give the same pixels
        box = box_in_smaller(params.whole, params.full_height, params.full_width, image)
        return resize_box(image, box, params.height, params.width)

    def output_size(self, params: Sizes, height: int, width: int) -> tuple[int, int]:
        return params.height, params.width

    def apply_boxes(self, boxes: FloatArray, params: Sizes, height: int, width: int) -> FloatArray:
        return resize_boxes(boxes, params.whole, params.height, params.width)

    def apply_mask(self, mask: MaskArray, params: Sizes) -> MaskArray:
        return resize_mask_box(mask, params.whole, params.height, params.width)

    def shrink(self, params: Sizes) -> float:
        return allowed_shrink(params.full_height, params.full_width, params.height, params.width)


@settings
class Resize(Resizing):
    """Resizes the shorter side to `size` if it is one number, else to height and width."""

    name = "resize"

    size: Size = 256

    def sample(self, rng: Rng, height: int, width: int) -> Sizes:
        """Nothing is random."""
        if isinstance(self.size, tuple):
            return Sizes(*self.size, height, width)
        if height <= width:
            return Sizes(self.size, self.size * width // height, height, width)
        return Sizes(self.size * height // width, self.size, height, width)
