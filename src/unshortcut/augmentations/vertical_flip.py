"""Flips the image upside down at random: torchvision's `RandomVerticalFlip`."""

from unshortcut.arrays import FloatArray, ImageArray
from unshortcut.augmentations.augmentation import RandomlyApplied
from unshortcut.data.regions import MaskArray
from unshortcut.fields import Probability
from unshortcut.imaging.boxes import flip_boxes_vertical
from unshortcut.imaging.geometry import flip_vertical
from unshortcut.parts import settings


@settings
class VerticalFlip(RandomlyApplied):
    """With probability p, flips the image upside down."""

    name = "vertical_flip"

    p: Probability = 0.5

    def change(self, image: ImageArray) -> ImageArray:
        return flip_vertical(image)

    def apply_boxes(
        self, boxes: FloatArray, params: bool | None, height: int, width: int
    ) -> FloatArray:
        return flip_boxes_vertical(boxes, height) if params else boxes

    def apply_mask(self, mask: MaskArray, params: bool | None) -> MaskArray:
        return flip_vertical(mask) if params else mask
