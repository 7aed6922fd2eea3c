"""Texture flattened by a bilateral filter, at random."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unshortcut.imaging.filters import bilateral
from unshortcut.views.augmentation import Array, Augmentation
from unshortcut.views.augmentations._settings import check_number, check_probability, check_whole


@dataclass(frozen=True)
class BilateralFilter(Augmentation):
    """With probability p, each pixel becomes a mean of the neighbours that are alike in colour."""

    name: ClassVar[str] = "bilateral_filter"

    diameter: int = 9
    """Pixels across the neighbourhood."""
    sigma_color: float = 30.0
    """Differences of colour, channels summed, well above it are edges."""
    sigma_space: float = 7.0
    """Standard deviation of the weight in place, in pixels."""
    repeats: int = 3
    """How often; more flatten coarser texture."""
    p: float = 0.5

    def __post_init__(self) -> None:
        check_probability(self.name, self.p)
        check_bilateral(self.name, self.diameter, self.sigma_color, self.sigma_space, self.repeats)

    def sample(self, rng: np.random.Generator, height: int, width: int) -> bool | None:
        return True if rng.random() < self.p else None

    def apply(self, image: Array, params: bool | None) -> Array:
        if not params:
            return image
        return bilateral(
            image,
            diameter=self.diameter,
            sigma_color=self.sigma_color,
            sigma_space=self.sigma_space,
            repeats=self.repeats,
        )


def check_bilateral(
    augmentation: str, diameter: int, sigma_color: float, sigma_space: float, repeats: int
) -> None:
    """Raise a sentence unless `bilateral` takes the settings."""
    check_whole(augmentation, "diameter", diameter, 1, 99)
    check_number(augmentation, "sigma_color", sigma_color, 0.1, 1000)
    check_number(augmentation, "sigma_space", sigma_space, 0.1, 1000)
    check_whole(augmentation, "repeats", repeats, 1, 100)
