"""`anisotropic`: Perona–Malik diffusion, which smooths texture and keeps edges."""

from typing import ClassVar

from unshortcut.build.operations._diffusion import DiffusionOperation
from unshortcut.imaging.diffusion import Conductance
from unshortcut.parts import settings


@settings
class AnisotropicOperation(DiffusionOperation):
    """Anisotropic diffusion (dissertation, section 2.3.1)."""

    name: ClassVar[str] = "anisotropic"

    conductance: Conductance = "exponential"
    """How the flow decreases with the difference."""

    def flow(self) -> Conductance:
        return self.conductance
