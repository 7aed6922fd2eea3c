"""`anisotropic`: Perona–Malik diffusion, which smooths texture away and stops at edges."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unshortcut.build.operation import Operation
from unshortcut.data.source import Array
from unshortcut.errors import UsageError
from unshortcut.imaging.diffusion import Conductance, anisotropic_diffusion, check_settings


@dataclass(frozen=True)
class Anisotropic(Operation):
    """Diffusion with the papers' settings (dissertation, 2.2)."""

    name: ClassVar[str] = "anisotropic"

    iterations: int = 20
    """More take out coarser texture; the papers also use 50."""
    kappa: float = 20.0
    """Differences of grey levels well above it are edges, of 255."""
    gamma: float = 0.1
    """The share of a difference that flows in one iteration."""
    joint: bool = False
    """Whether channels also mix, as MedPy does it when given the whole array."""
    conductance: Conductance = "exponential"

    def __post_init__(self) -> None:
        try:
            check_settings(self.iterations, self.kappa, self.gamma, self.conductance, self.joint)
        except ValueError as error:
            raise UsageError(f"{self.name}.{error}") from None

    def apply(self, image: Array, rng: np.random.Generator) -> Array:
        return anisotropic_diffusion(
            image,
            iterations=self.iterations,
            kappa=self.kappa,
            gamma=self.gamma,
            conductance=self.conductance,
            joint=self.joint,
        )
