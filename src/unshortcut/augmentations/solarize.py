"""Inverts bright values at random: torchvision's `RandomSolarize`."""

from typing import Annotated

from pydantic import Field

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import RandomlyApplied
from unshortcut.fields import Number, Probability
from unshortcut.imaging.color import solarize
from unshortcut.parts import settings


@settings
class Solarize(RandomlyApplied):
    """With probability p, replaces values v of at least the threshold by 255 - v."""

    name = "solarize"

    threshold: Annotated[Number, Field(ge=0, le=256)] = 128.0
    p: Probability = 0.2

    def change(self, image: ImageArray) -> ImageArray:
        return solarize(image, self.threshold)
