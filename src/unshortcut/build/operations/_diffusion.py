"""What the two kinds of diffusion have in common."""

from dataclasses import dataclass
from typing import ClassVar

from unshortcut.arrays import ImageArray
from unshortcut.errors import UsageError
from unshortcut.imaging.diffusion import Conductance, anisotropic_diffusion, check_settings


@dataclass(frozen=True)
class DiffusionSettings:
    """With the papers' values (dissertation, 2.4)."""

    name: ClassVar[str]

    iterations: int = 20
    """More take out coarser texture; the papers also use 50."""
    kappa: float = 20.0
    """Differences of gray levels well above it are edges, of 255."""
    gamma: float = 0.1
    """The share of a difference that flows in one iteration."""
    joint: bool = False
    """Whether channels also mix, as MedPy does it when given the whole array."""

    def check(self, conductance: Conductance) -> None:
        try:
            check_settings(self.iterations, self.kappa, self.gamma, conductance, self.joint)
        except ValueError as error:
            raise UsageError(f"{self.name}.{error}") from None

    def diffused(self, image: ImageArray, conductance: Conductance) -> ImageArray:
        return anisotropic_diffusion(
            image,
            iterations=self.iterations,
            kappa=self.kappa,
            gamma=self.gamma,
            conductance=conductance,
            joint=self.joint,
        )
