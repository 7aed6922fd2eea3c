"""Adds a small random number to each color channel."""

from typing import Annotated, ClassVar

import cv2
import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.fields import Allowed
from unshortcut.parts import settings
from unshortcut.randomness import Rng

Levels = Annotated[
    tuple[int, int],
    Allowed(
        "two integers from -255 to 255, the lower first",
        lambda levels: -255 <= levels[0] <= levels[1] <= 255,
    ),
]


@settings
class ColorShift(Augmentation):
    """Shifts each channel by a number of gray levels of its own, within 0 to 255."""

    name: ClassVar[str] = "color_shift"

    levels: Levels = (-2, 1)
    """Range of the shift, both ends included; the default is that of the public Jigsaw code."""

    def sample(self, rng: Rng, height: int, width: int) -> list[int]:
        low, high = self.levels
        return [low + int(position * (high - low + 1)) for position in rng.random(3).tolist()]

    def apply(self, image: ImageArray, params: list[int] | None) -> ImageArray:
        if params is None:
            return image
        return np.asarray(cv2.add(np.ascontiguousarray(image), (*params, 0)), dtype=np.uint8)
