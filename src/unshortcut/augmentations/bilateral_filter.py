"""Flattens texture with a bilateral filter, at random."""

from typing import Annotated, ClassVar

from pydantic import Field

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import RandomlyApplied
from unshortcut.fields import Integer, Number, Probability
from unshortcut.imaging.filters import bilateral
from unshortcut.parts import settings


@settings
class BilateralSettings:
    """Settings that this augmentation shares with an operation on data sets."""

    name: ClassVar[str]

    diameter: Annotated[Integer, Field(ge=1, le=99)] = 9
    """Diameter of the neighborhood in pixels."""
    sigma_color: Annotated[Number, Field(ge=0.1, le=1000)] = 30.0
    """Color differences, summed over channels, well above this value are kept as edges."""
    sigma_space: Annotated[Number, Field(ge=0.1, le=1000)] = 7.0
    """Standard deviation of the spatial weight in pixels."""
    repeats: Annotated[Integer, Field(ge=1, le=100)] = 3
    """Number of passes; more passes flatten coarser texture."""

    def change(self, image: ImageArray) -> ImageArray:
        """The filtered image."""
        return bilateral(
            image,
            diameter=self.diameter,
            sigma_color=self.sigma_color,
            sigma_space=self.sigma_space,
            repeats=self.repeats,
        )


@settings
class BilateralFilter(BilateralSettings, RandomlyApplied):
    """With probability p, averages each pixel with the neighbors of similar color."""

    name = "bilateral_filter"

    p: Probability = 0.5
