"""Filters with their settings, which an augmentation and an operation on data sets share."""

from typing import Annotated, ClassVar

from pydantic import Field

from unshortcut.arrays import ImageArray
from unshortcut.fields import Integer, Number, Odd
from unshortcut.imaging.filters import bilateral, cartoon
from unshortcut.parts import settings


@settings
class BilateralSettings:
    """OpenCV's bilateral filter, applied several times."""

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
class CartoonSettings(BilateralSettings):
    """A bilateral filter with the edges of its result drawn over it."""

    median: Annotated[Integer, Field(ge=1, le=99), Odd] = 7
    """Size in pixels of the median filter that removes specks from the outlines; odd."""
    block: Annotated[Integer, Field(ge=3, le=99), Odd] = 9
    """Size in pixels of the local mean for the outlines; odd. Larger values widen the lines."""
    offset: Annotated[Number, Field(ge=-255, le=255)] = 4.0
    """A pixel is part of an outline if it is this many gray levels below the local mean."""

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
        )
