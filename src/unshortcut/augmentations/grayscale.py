"""Converts the image to gray at random: torchvision's `RandomGrayscale`."""

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import RandomlyApplied
from unshortcut.fields import Probability
from unshortcut.imaging.color import gray
from unshortcut.parts import settings


@settings
class Grayscale(RandomlyApplied):
    """With probability p, sets all three channels to the luma."""

    name = "grayscale"

    p: Probability = 0.2

    def change(self, image: ImageArray) -> ImageArray:
        return gray(image)
