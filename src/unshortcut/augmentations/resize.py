"""Resizes the image with antialiasing, for evaluation: torchvision's `Resize`."""

from typing import NamedTuple

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.fields import Size
from unshortcut.imaging.geometry import allowed_shrink, box_in_smaller, resize_box
from unshortcut.parts import settings
from unshortcut.randomness import Rng


class Sizes(NamedTuple):
    """Height and width of the result and of the full image."""

    height: int
    width: int
    full_height: int
    full_width: int


@settings
class Resize(Augmentation):
    """Resizes the shorter side to `size` if it is one number, else to height and width."""

    name = "resize"

    size: Size = 256

    def sample(self, rng: Rng, height: int, width: int) -> Sizes:
        """Nothing is random."""
        if isinstance(self.size, tuple):
            return Sizes(*self.size, height, width)
        if height <= width:
            return Sizes(self.size, self.size * width // height, height, width)
        return Sizes(self.size * height // width, self.size, height, width)

    def apply(self, image: ImageArray, params: Sizes) -> ImageArray:
        if image.shape[:2] == (params.height, params.width) == (*params[2:],):
            return image  # resizing would give the same pixels
        whole = (0.0, 0.0, params.full_height, params.full_width)
        box = box_in_smaller(whole, params.full_height, params.full_width, image)
        return resize_box(image, box, params.height, params.width)

    def output_size(self, params: Sizes, height: int, width: int) -> tuple[int, int]:
        return params.height, params.width

    def shrink(self, params: Sizes) -> float:
        return allowed_shrink(params.full_height, params.full_width, params.height, params.width)
