"""Flips the image upside down at random: torchvision's `RandomVerticalFlip`."""

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import RandomlyApplied
from unshortcut.fields import Probability
from unshortcut.imaging.geometry import flip_vertical
from unshortcut.parts import settings


@settings
class VerticalFlip(RandomlyApplied):
    """With probability p, flips the image upside down."""

    name = "vertical_flip"

    p: Probability = 0.5

    def change(self, image: ImageArray) -> ImageArray:
        return flip_vertical(image)
