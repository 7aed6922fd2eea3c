"""`robust`: diffusion with Tukey's conductance, which is 0 across an edge."""

from unshortcut.build.operations.anisotropic import DiffusionOperation
from unshortcut.imaging.diffusion import Conductance
from unshortcut.parts import settings


@settings
class RobustOperation(DiffusionOperation):
    """Robust anisotropic diffusion (Black et al., 1998; dissertation, section 2.3.3).

    Nothing flows across differences of more than 1.4 times kappa.
    """

    name = "robust"

    def flow(self) -> Conductance:
        return "tukey"
