"""Crops a box of fixed size at a random position, for small images: torchvision's `RandomCrop`."""

from typing import Annotated

from pydantic import Field

from unshortcut.arrays import FloatArray, ImageArray
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.data.regions import IGNORED, MaskArray
from unshortcut.fields import Integer, Size, ends
from unshortcut.imaging.boxes import resize_boxes
from unshortcut.imaging.geometry import crop
from unshortcut.parts import settings
from unshortcut.randomness import Rng


@settings
class RandomCrop(Augmentation):
    """Pads the image with black, further if it is smaller than the box, and crops the box."""

    name = "random_crop"

    size: Size = 32
    padding: Annotated[Integer, Field(ge=0, le=10_000)] = 4
    """Width of the border in pixels."""

    def sample(self, rng: Rng, height: int, width: int) -> tuple[int, int]:
        """Top and left of the box in pixels of the image; negative in the border."""
        box_height, box_width = ends(self.size)
        return self._start(rng, height, box_height), self._start(rng, width, box_width)

    def apply(self, image: ImageArray, params: tuple[int, int]) -> ImageArray:
        return crop(image, *params, *ends(self.size))

    def output_size(self, params: tuple[int, int], height: int, width: int) -> tuple[int, int]:
        return ends(self.size)

    def apply_boxes(
        self, boxes: FloatArray, params: tuple[int, int], height: int, width: int
    ) -> FloatArray:
        return resize_boxes(boxes, (*params, *ends(self.size)), *ends(self.size))

    def apply_mask(self, mask: MaskArray, params: tuple[int, int]) -> MaskArray:
        return crop(mask, *params, *ends(self.size), fill=IGNORED)

    def _start(self, rng: Rng, length: int, wanted: int) -> int:
        border = self.padding + max(0, wanted - length - 2 * self.padding)
        return int(rng.integers(length + 2 * border - wanted + 1)) - border
