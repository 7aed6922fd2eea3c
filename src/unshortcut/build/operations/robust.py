"""`robust`: diffusion with Tukey's conductance, which is 0 across an edge."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.build.operation import Operation
from unshortcut.build.operations._diffusion import DiffusionSettings


@dataclass(frozen=True)
class Robust(DiffusionSettings, Operation):
    """Robust anisotropic diffusion (Black et al. 1998; dissertation, 2.3.3).

    Nothing flows across differences of more than 1.4 times kappa.
    """

    name: ClassVar[str] = "robust"

    def __post_init__(self) -> None:
        self.check("tukey")

    def apply(self, image: ImageArray, rng: np.random.Generator) -> ImageArray:
        return self.diffused(image, "tukey")
