"""Rotates the image by a multiple of 90 degrees at random, as in LooC (section 4)."""

from typing import Annotated, Literal

from pydantic import Field

from unshortcut.arrays import FloatArray, ImageArray
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.data.regions import MaskArray
from unshortcut.fields import Probability
from unshortcut.imaging.boxes import rotate_boxes90
from unshortcut.imaging.geometry import rotate90
from unshortcut.parts import settings
from unshortcut.randomness import Rng


@settings
class Rotation(Augmentation):
    """With probability p, rotates counter-clockwise by one of the angles, all equally likely."""

    name = "rotation"

    angles: Annotated[tuple[Literal[90, 180, 270], ...], Field(min_length=1)] = (90, 180, 270)
    p: Probability = 0.5

    def sample(self, rng: Rng, height: int, width: int) -> int | None:
        """The angle in degrees."""
        chance, position = rng.random(2).tolist()
        return self.angles[int(position * len(self.angles))] if chance < self.p else None

    def apply(self, image: ImageArray, params: int | None) -> ImageArray:
        return image if params is None else rotate90(image, params // 90)

    def output_size(self, params: int | None, height: int, width: int) -> tuple[int, int]:
        return (width, height) if params in (90, 270) else (height, width)

    def apply_boxes(
        self, boxes: FloatArray, params: int | None, height: int, width: int
    ) -> FloatArray:
        return rotate_boxes90(boxes, (params or 0) // 90, height, width)

    def apply_mask(self, mask: MaskArray, params: int | None) -> MaskArray:
        return mask if params is None else rotate90(mask, params // 90)
