"""Flips the image left to right at random: torchvision's `RandomHorizontalFlip`."""

from unshortcut.arrays import FloatArray, ImageArray
from unshortcut.augmentations.augmentation import RandomlyApplied
from unshortcut.data.regions import MaskArray
from unshortcut.fields import Probability
from unshortcut.imaging.boxes import flip_boxes_horizontal
from unshortcut.imaging.geometry import flip_horizontal
from unshortcut.parts import settings


@settings
class HorizontalFlip(RandomlyApplied):
    """With probability p, flips the image left to right."""

    name = "horizontal_flip"

    p: Probability = 0.5

    def change(self, image: ImageArray) -> ImageArray:
        return flip_horizontal(image)

    def apply_boxes(
        self, boxes: FloatArray, params: bool | None, height: int, width: int
    ) -> FloatArray:
        return flip_boxes_horizontal(boxes, width) if params else boxes

    def apply_mask(self, mask: MaskArray, params: bool | None) -> MaskArray:
        return flip_horizontal(mask) if params else mask
