"""`cartoon`: flat colours with black outlines."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unshortcut.build.operation import Operation
from unshortcut.data.source import Array
from unshortcut.imaging.filters import cartoon
from unshortcut.views.augmentations._settings import check_number, check_whole
from unshortcut.views.augmentations.bilateral_filter import check_bilateral


@dataclass(frozen=True)
class Cartoon(Operation):
    """A bilateral filter and, over it, the edges of what it leaves (dissertation, 2.2)."""

    name: ClassVar[str] = "cartoon"

    diameter: int = 9
    """Of the bilateral filter, with the next three: pixels across the neighbourhood."""
    sigma_color: float = 30.0
    """Differences of colour, channels summed, well above it are edges."""
    sigma_space: float = 7.0
    """Standard deviation of the weight in place, in pixels."""
    repeats: int = 3
    """How often the bilateral filter is applied."""
    median: int = 7
    """Pixels across the median that takes specks from the outlines; odd."""
    block: int = 9
    """Pixels across the mean that grey levels are compared with; odd; more, and lines are wider."""
    offset: float = 4.0
    """Levels below that mean from which a pixel is part of an outline."""

    def __post_init__(self) -> None:
        check_bilateral(self.name, self.diameter, self.sigma_color, self.sigma_space, self.repeats)
        check_whole(self.name, "median", self.median, 1, 99, odd=True)
        check_whole(self.name, "block", self.block, 3, 99, odd=True)
        check_number(self.name, "offset", self.offset, -255, 255)

    def apply(self, image: Array, rng: np.random.Generator) -> Array:
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
