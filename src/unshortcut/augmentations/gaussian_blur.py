"""Blurs the image with a random radius, as MoCo-v2 and SimCLR do with Pillow's `GaussianBlur`."""

from typing import Annotated

from pydantic import Field

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.fields import Integer, Odd, Pair, Probability, in_order
from unshortcut.imaging.blur import gaussian_blur
from unshortcut.parts import settings
from unshortcut.randomness import Rng


@settings
class GaussianBlur(Augmentation):
    """With probability p, a Gaussian blur whose standard deviation is sampled uniformly."""

    name = "gaussian_blur"

    sigma: Annotated[Pair, in_order(0)] = (0.1, 2.0)
    """Range of the standard deviation in pixels, above 0 with a `kernel_size`."""
    kernel_size: Annotated[Integer, Field(ge=3, le=99), Odd] | None = None
    """Width at which the kernel is cut off, in pixels, odd; by default as wide as Pillow's."""
    p: Probability = 0.5

    def __post_init__(self) -> None:
        if self.kernel_size is not None and self.sigma[0] == 0:
            raise ValueError("sigma must be above 0 if there is a kernel_size")

    def sample(self, rng: Rng, height: int, width: int) -> float | None:
        """The standard deviation."""
        chance, position = rng.random(2).tolist()
        low, high = self.sigma
        return low + (high - low) * position if chance < self.p else None

    def apply(self, image: ImageArray, params: float | None) -> ImageArray:
        return image if params is None else gaussian_blur(image, params, self.kernel_size)
