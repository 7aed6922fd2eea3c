"""Erases a random box of the image: random erasing (Zhong et al.), as in torchvision and timm.

Theirs erase float tensors and draw from torch's global generator; views here are uint8, and what is
drawn has a key.
"""

from typing import Annotated, Literal, NamedTuple

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.augmentations.rand_augment import Fill
from unshortcut.augmentations.random_resized_crop import sample_sides
from unshortcut.fields import Allowed, Pair, Probability, in_order
from unshortcut.parts import settings
from unshortcut.randomness import Rng, generator

_TRIES = 10
_TINY = 1e-6
_MEAN, _STD = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)
"""Mean and standard deviation of ImageNet's pixels, in levels of 0 to 255."""


class Erased(NamedTuple):
    """A box in pixels, and the seed of the noise in it."""

    top: int
    left: int
    height: int
    width: int
    seed: int


@settings
class RandomErasing(Augmentation):
    """With probability p, fills a box of random area and aspect ratio with noise or a color."""

    name = "random_erasing"

    scale: Annotated[Pair, in_order(_TINY, 1)] = (0.02, 1 / 3)
    """Range of the area of the box as a fraction of the image's area."""
    ratio: Annotated[Pair, in_order(_TINY)] = (0.3, 10 / 3)
    """Range of height divided by width, sampled log-uniformly."""
    fill: Annotated[
        Literal["noise"] | Fill,
        Allowed("noise, or a color of three levels from 0 to 255", lambda fill: True),
    ] = "noise"
    """A color, or noise with the mean and standard deviation of ImageNet's pixels, which is about
    standard normal once the image is normalized (timm's mode `pixel`)."""
    p: Probability = 0.25

    def sample(self, rng: Rng, height: int, width: int) -> Erased | None:
        if rng.random() >= self.p:
            return None
        for _ in range(_TRIES):
            box_height, box_width = sample_sides(rng, height * width, self.scale, self.ratio)
            if box_height < height and box_width < width:
                top = int(rng.integers(height - box_height + 1))
                left = int(rng.integers(width - box_width + 1))
                return Erased(top, left, box_height, box_width, int(rng.integers(2**32)))
        return None

    def apply(self, image: ImageArray, params: Erased | None) -> ImageArray:
        if params is None:
            return image
        top, left, height, width, seed = params
        erased = image.copy()
        erased[top : top + height, left : left + width] = (
            _noise(height, width, seed) if self.fill == "noise" else self.fill
        )
        return erased


def _noise(height: int, width: int, seed: int) -> ImageArray:
    unit = generator(seed).standard_normal((height, width, 3), dtype=np.float32)
    levels = unit * np.array(_STD, np.float32) + np.array(_MEAN, np.float32)
    return np.clip(np.rint(levels), 0, 255).astype(np.uint8)
