"""`anisotropic`: Perona–Malik diffusion, which smooths texture away and stops at edges."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.build.operation import Operation
from unshortcut.build.operations._diffusion import DiffusionSettings
from unshortcut.imaging.diffusion import Conductance


@dataclass(frozen=True)
class Anisotropic(DiffusionSettings, Operation):
    """Diffusion as in the dissertation, 2.3.1."""

    name: ClassVar[str] = "anisotropic"

    conductance: Conductance = "exponential"

    def __post_init__(self) -> None:
        self.check(self.conductance)

    def apply(self, image: ImageArray, rng: np.random.Generator) -> ImageArray:
        return self.diffused(image, self.conductance)
