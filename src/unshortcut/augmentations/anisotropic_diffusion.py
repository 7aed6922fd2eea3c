"""Suppresses texture by Perona–Malik diffusion, at random, as in the papers on texture bias."""

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.fields import Number, Probability, ends, in_order
from unshortcut.imaging.diffusion import (
    KAPPAS,
    Conductance,
    anisotropic_diffusion,
    check_settings,
)
from unshortcut.parts import settings


@settings
class AnisotropicDiffusion(Augmentation):
    """With probability p, diffuses for a number of iterations that is sampled uniformly."""

    name: ClassVar[str] = "anisotropic_diffusion"

    iterations: Annotated[int | tuple[int, int], in_order(0, form="one or two integers")] = (10, 20)
    """Number of iterations, or its range, both ends included."""
    kappa: Annotated[Number, Field(ge=KAPPAS[0], le=KAPPAS[1])] = 20.0
    """Differences well above this many gray levels are kept as edges."""
    gamma: Annotated[Number, Field(gt=0, le=0.25)] = 0.1
    """Step size of an iteration; at most 1/4, or 1/6 if `joint`."""
    conductance: Conductance = "exponential"
    """How the flow decreases with the difference; "tukey" is robust diffusion."""
    joint: bool = False
    """Whether to diffuse across channels too, instead of each channel on its own."""
    p: Probability = 0.5

    def __post_init__(self) -> None:
        check_settings(0, self.kappa, self.gamma, self.conductance, self.joint)

    def sample(self, rng: np.random.Generator, height: int, width: int) -> int | None:
        """The number of iterations."""
        chance, position = rng.random(2).tolist()
        low, high = ends(self.iterations)
        return low + int(position * (high - low + 1)) if chance < self.p else None

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
