"""`bilateral`: each pixel becomes a mean of those neighbours that are alike in colour."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unshortcut.build.operation import Operation
from unshortcut.data.source import Array
from unshortcut.imaging.filters import bilateral
from unshortcut.views.augmentations.bilateral_filter import check_bilateral


@dataclass(frozen=True)
class Bilateral(Operation):
    """OpenCV's bilateral filter, several times (dissertation, 2.2)."""

    name: ClassVar[str] = "bilateral"

    diameter: int = 9
    """Pixels across the neighbourhood."""
    sigma_color: float = 30.0
    """Differences of colour, channels summed, well above it are edges."""
    sigma_space: float = 7.0
    """Standard deviation of the weight in place, in pixels."""
    repeats: int = 3
    """How often; more flatten coarser texture."""

    def __post_init__(self) -> None:
        check_bilateral(self.name, self.diameter, self.sigma_color, self.sigma_space, self.repeats)

    def apply(self, image: Array, rng: np.random.Generator) -> Array:
        return bilateral(
            image,
            diameter=self.diameter,
            sigma_color=self.sigma_color,
            sigma_space=self.sigma_space,
            repeats=self.repeats,
        )
