"""The base of the two kinds of diffusion."""

from abc import abstractmethod

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.build.operation import Operation
from unshortcut.fields import Integer, Number
from unshortcut.imaging.diffusion import Conductance, anisotropic_diffusion, check_settings
from unshortcut.parts import settings


@settings
class DiffusionOperation(Operation):
    """Anisotropic diffusion; the defaults are those of the dissertation (section 2.4)."""

    iterations: Integer = 20
    """Number of iterations; more remove coarser texture. The papers also use 50."""
    kappa: Number = 20.0
    """Differences well above this many gray levels are kept as edges."""
    gamma: Number = 0.1
    """Step size of an iteration."""
    joint: bool = False
    """Whether to diffuse across channels too, as MedPy does with the whole array."""

    @abstractmethod
    def flow(self) -> Conductance:
        """How the flow decreases with the difference."""

    def __post_init__(self) -> None:
        check_settings(self.iterations, self.kappa, self.gamma, self.flow(), self.joint)

    def apply(self, image: ImageArray, rng: np.random.Generator) -> ImageArray:
        return anisotropic_diffusion(
            image,
            iterations=self.iterations,
            kappa=self.kappa,
            gamma=self.gamma,
            conductance=self.flow(),
            joint=self.joint,
        )
