"""Turns the image into a cartoon, with flat colors and black outlines, at random."""

from typing import Annotated

from pydantic import Field

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import RandomlyApplied
from unshortcut.augmentations.bilateral_filter import BilateralSettings
from unshortcut.fields import Integer, Number, Odd, Probability
from unshortcut.imaging.filters import Outlines, cartoon
from unshortcut.parts import settings


@settings
class CartoonSettings(BilateralSettings):
    """Settings that this augmentation shares with an operation on data sets."""

    median: Annotated[Integer, Field(ge=1, le=99), Odd] = 7
    """Size in pixels of the median filter that removes specks from the outlines; odd."""
    block: Annotated[Integer, Field(ge=3, le=99), Odd] = 9
    """Size in pixels of the local mean for the outlines; odd. Larger values widen the lines."""
    offset: Annotated[Number, Field(ge=-255, le=255)] = 4.0
    """A pixel is part of an outline if it is this many gray levels below the local mean."""
    outlines: Outlines = "image"
    """Whether outlines are found in the image itself, as in the papers, or after the filter."""

    def change(self, image: ImageArray) -> ImageArray:
        """The image as a cartoon."""
        return cartoon(
            image,
            diameter=self.diameter,
            sigma_color=self.sigma_color,
            sigma_space=self.sigma_space,
            repeats=self.repeats,
            median=self.median,
            block=self.block,
            offset=self.offset,
            outlines=self.outlines,
        )


@settings
class Cartoon(CartoonSettings, RandomlyApplied):
    """With probability p, applies a bilateral filter and draws the remaining edges over it."""

    name = "cartoon"

    p: Probability = 0.5
