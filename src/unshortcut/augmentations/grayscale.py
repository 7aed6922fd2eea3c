"""Converts the image to gray at random: torchvision's `RandomGrayscale`."""

from typing import ClassVar

from unshortcut.arrays import ImageArray
from unshortcut.augmentations._random import RandomlyApplied
from unshortcut.fields import Probability
from unshortcut.imaging.color import gray
from unshortcut.parts import settings


@settings
class Grayscale(RandomlyApplied):
    """With probability p, sets all three channels to the luma."""

    name: ClassVar[str] = "grayscale"

    p: Probability = 0.2

    def change(self, image: ImageArray) -> ImageArray:
        return gray(image)
