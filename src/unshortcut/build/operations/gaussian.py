"""`gaussian`: blur, which takes the edges along with the texture; the papers' control."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations._settings import as_range
from unshortcut.build.operation import Operation
from unshortcut.imaging.blur import gaussian_blur


@dataclass(frozen=True)
class Gaussian(Operation):
    """A Gaussian blur with a standard deviation drawn uniformly."""

    name: ClassVar[str] = "gaussian"

    sigma: tuple[float, float] = (3.16, 4.47)
    """Range of the standard deviation in pixels; the default is a variance of 10 to 20."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", as_range(self.name, "sigma", self.sigma, 0.0))

    def apply(self, image: ImageArray, rng: np.random.Generator) -> ImageArray:
        return gaussian_blur(image, rng.uniform(*self.sigma))
