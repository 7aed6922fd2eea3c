"""Flips the image left to right at random: torchvision's `RandomHorizontalFlip`."""

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import RandomlyApplied
from unshortcut.fields import Probability
from unshortcut.imaging.geometry import flip_horizontal
from unshortcut.parts import settings


@settings
class HorizontalFlip(RandomlyApplied):
    """With probability p, flips the image left to right."""

    name = "horizontal_flip"

    p: Probability = 0.5

    def change(self, image: ImageArray) -> ImageArray:
        return flip_horizontal(image)
