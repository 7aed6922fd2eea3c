"""Blur with a random radius, as MoCo-v2 and SimCLR do it through Pillow's `GaussianBlur`."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations._settings import as_range, check_probability
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.imaging.blur import gaussian_blur


@dataclass(frozen=True)
class GaussianBlur(Augmentation):
    """With probability p, a Gaussian blur with a standard deviation drawn uniformly."""

    name: ClassVar[str] = "gaussian_blur"

    sigma: tuple[float, float] = (0.1, 2.0)
    """Range of the standard deviation in pixels."""
    p: float = 0.5

    def __post_init__(self) -> None:
        check_probability(self.name, self.p)
        object.__setattr__(self, "sigma", as_range(self.name, "sigma", self.sigma, 0.0))

    def sample(self, rng: np.random.Generator, height: int, width: int) -> float | None:
        chance, place = rng.random(2).tolist()
        low, high = self.sigma
        return low + (high - low) * place if chance < self.p else None

    def apply(self, image: ImageArray, params: float | None) -> ImageArray:
        return image if params is None else gaussian_blur(image, params)
