"""Settings of the filters, with what they do; an augmentation and an operation each share them."""

from dataclasses import dataclass
from typing import ClassVar

from unshortcut.arrays import ImageArray
from unshortcut.augmentations._settings import check_number, check_whole
from unshortcut.imaging.filters import bilateral, cartoon


@dataclass(frozen=True)
class BilateralSettings:
    """Of OpenCV's bilateral filter, several times."""

    name: ClassVar[str]

    diameter: int = 9
    """Pixels across the neighborhood."""
    sigma_color: float = 30.0
    """Differences of color, channels summed, well above it are edges."""
    sigma_space: float = 7.0
    """Standard deviation of the weight in place, in pixels."""
    repeats: int = 3
    """How often; more flatten coarser texture."""

    def __post_init__(self) -> None:
        check_whole(self.name, "diameter", self.diameter, 1, 99)
        check_number(self.name, "sigma_color", self.sigma_color, 0.1, 1000)
        check_number(self.name, "sigma_space", self.sigma_space, 0.1, 1000)
        check_whole(self.name, "repeats", self.repeats, 1, 100)

    def filtered(self, image: ImageArray) -> ImageArray:
        return bilateral(
            image,
            diameter=self.diameter,
            sigma_color=self.sigma_color,
            sigma_space=self.sigma_space,
            repeats=self.repeats,
        )


@dataclass(frozen=True)
class CartoonSettings(BilateralSettings):
    """Of a bilateral filter and, over it, the edges of what it leaves."""

    median: int = 7
    """Pixels across the median that takes specks from the outlines; odd."""
    block: int = 9
    """Pixels across the mean that gray levels are compared with; odd; more, and lines are wider."""
    offset: float = 4.0
    """Levels below that mean from which a pixel is part of an outline."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.name, "median", self.median, 1, 99, odd=True)
        check_whole(self.name, "block", self.block, 3, 99, odd=True)
        check_number(self.name, "offset", self.offset, -255, 255)

    def filtered(self, image: ImageArray) -> ImageArray:
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
