"""Texture suppressed by Perona–Malik diffusion, at random, as in the papers on texture bias."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations._settings import (
    as_whole_range,
    check_number,
    check_probability,
    ends,
)
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.errors import UsageError
from unshortcut.imaging.diffusion import (
    KAPPAS,
    Conductance,
    anisotropic_diffusion,
    check_settings,
)


@dataclass(frozen=True)
class AnisotropicDiffusion(Augmentation):
    """With probability p, a number of iterations drawn uniformly."""

    name: ClassVar[str] = "anisotropic_diffusion"

    iterations: int | tuple[int, int] = (10, 20)
    """Range of the number of iterations, both ends included; one number is always that one."""
    kappa: float = 20.0
    """Gray levels from which a difference is an edge."""
    gamma: float = 0.1
    """Share of a difference that flows in one iteration; at most 1/4, or 1/6 where joint."""
    conductance: Conductance = "exponential"
    """How the flow falls off with the difference; "tukey" is robust diffusion."""
    joint: bool = False
    """Diffuse across channels too, and not each for itself."""
    p: float = 0.5

    def __post_init__(self) -> None:
        check_probability(self.name, self.p)
        iterations = as_whole_range(self.name, "iterations", self.iterations, 0)
        object.__setattr__(self, "iterations", iterations)
        check_number(self.name, "kappa", self.kappa, *KAPPAS)
        check_number(self.name, "gamma", self.gamma, 0.0, 0.25)
        try:
            check_settings(0, self.kappa, self.gamma, self.conductance, self.joint)
        except ValueError as error:
            raise UsageError(f"{self.name}.{error}") from None

    def sample(self, rng: np.random.Generator, height: int, width: int) -> int | None:
        """The number of iterations."""
        chance, place = rng.random(2).tolist()
        low, high = ends(self.iterations)
        return low + int(place * (high - low + 1)) if chance < self.p else None

    def apply(self, image: ImageArray, params: int | None) -> ImageArray:
        if params is None:
            return image
        return anisotropic_diffusion(
            image,
            iterations=params,
            kappa=self.kappa,
            gamma=self.gamma,
            conductance=self.conductance,
            joint=self.joint,
        )
