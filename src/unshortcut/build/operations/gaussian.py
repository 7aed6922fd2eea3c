"""`gaussian`: blur, which removes edges along with texture; a control in the papers."""

from typing import Annotated

from unshortcut.arrays import ImageArray
from unshortcut.build.operation import Operation
from unshortcut.fields import Pair, in_order
from unshortcut.imaging.blur import gaussian_blur
from unshortcut.parts import settings
from unshortcut.randomness import Rng


@settings
class GaussianOperation(Operation):
    """A Gaussian blur whose standard deviation is sampled uniformly."""

    name = "gaussian"

    sigma: Annotated[Pair, in_order(0)] = (3.16, 4.47)
    """Range of the standard deviation in pixels; by default, the variance is 10 to 20."""

    def apply(self, image: ImageArray, rng: Rng) -> ImageArray:
        return gaussian_blur(image, rng.uniform(*self.sigma))
