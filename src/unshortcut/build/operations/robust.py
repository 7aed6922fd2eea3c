"""`robust`: diffusion with Tukey's conductance, which is 0 across an edge."""

from typing import ClassVar

from unshortcut.build.operations._diffusion import DiffusionOperation
from unshortcut.imaging.diffusion import Conductance
from unshortcut.parts import settings


@settings
class RobustOperation(DiffusionOperation):
    """Robust anisotropic diffusion (Black et al., 1998; dissertation, section 2.3.3).

    Nothing flows across differences of more than 1.4 times kappa.
    """

    name: ClassVar[str] = "robust"

    def flow(self) -> Conductance:
        return "tukey"
