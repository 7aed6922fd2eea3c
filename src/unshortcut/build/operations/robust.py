"""`robust`: diffusion with Tukey's conductance, to which a strong edge is no neighbour at all."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unshortcut.build.operation import Operation
from unshortcut.data.source import Array
from unshortcut.errors import UsageError
from unshortcut.imaging.diffusion import anisotropic_diffusion, check_settings


@dataclass(frozen=True)
class Robust(Operation):
    """Robust anisotropic diffusion (Black et al. 1998; dissertation, 2.2)."""

    name: ClassVar[str] = "robust"

    iterations: int = 20
    """More take out coarser texture; the papers also use 50."""
    kappa: float = 20.0
    """Nothing flows across differences of more than 1.4 times this many grey levels."""
    gamma: float = 0.1
    """The share of a difference that flows in one iteration."""
    joint: bool = False
    """Whether channels also mix, as MedPy does it when given the whole array."""

    def __post_init__(self) -> None:
        try:
            check_settings(self.iterations, self.kappa, self.gamma, "tukey", self.joint)
        except ValueError as error:
            raise UsageError(f"{self.name}.{error}") from None

    def apply(self, image: Array, rng: np.random.Generator) -> Array:
        return anisotropic_diffusion(
            image,
            iterations=self.iterations,
            kappa=self.kappa,
            gamma=self.gamma,
            conductance="tukey",
            joint=self.joint,
        )
