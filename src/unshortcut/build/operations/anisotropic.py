"""`anisotropic`: Perona–Malik diffusion, which smooths texture and keeps edges."""

from abc import abstractmethod
from typing import Annotated

from unshortcut.arrays import ImageArray
from unshortcut.build.operation import Operation
from unshortcut.fields import Number, ends, in_order
from unshortcut.imaging.diffusion import Conductance, anisotropic_diffusion, check_settings
from unshortcut.parts import settings
from unshortcut.randomness import Rng


@settings
class DiffusionOperation(Operation):
    """The base of both diffusions; the defaults are those of the dissertation (section 2.4)."""

    iterations: Annotated[int | tuple[int, int], in_order(0, form="one or two integers")] = 20
    """Number of iterations, or its range, both ends included, of which each image draws one.

    More remove coarser texture. The papers also use 50, and ten variations for MoCo-v2.
    """
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
        check_settings(ends(self.iterations)[1], self.kappa, self.gamma, self.flow(), self.joint)

    def apply(self, image: ImageArray, rng: Rng) -> ImageArray:
        low, high = ends(self.iterations)
        return anisotropic_diffusion(
            image,
            iterations=low if low == high else int(rng.integers(low, high + 1)),
            kappa=self.kappa,
            gamma=self.gamma,
            conductance=self.flow(),
            joint=self.joint,
        )


@settings
class AnisotropicOperation(DiffusionOperation):
    """Anisotropic diffusion (dissertation, section 2.3.1)."""

    name = "anisotropic"

    conductance: Conductance = "exponential"
    """How the flow decreases with the difference."""

    def flow(self) -> Conductance:
        return self.conductance
