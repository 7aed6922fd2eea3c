"""Changes brightness, contrast, saturation and hue: torchvision's `ColorJitter`."""

from typing import Annotated, ClassVar

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.fields import Pair, Probability, in_order
from unshortcut.imaging.color import ColorStep, adjust
from unshortcut.parts import settings

Steps = tuple[tuple[ColorStep, float], ...]
Factor = Annotated[float | Pair, in_order(0, form="one or two numbers")]
Hue = Annotated[float | Pair, in_order(-0.5, 0.5, form="a non-negative number or two")]

_STEPS = (ColorStep.BRIGHTNESS, ColorStep.CONTRAST, ColorStep.SATURATION, ColorStep.HUE)


@settings
class ColorJitter(Augmentation):
    """With probability p, four color changes in random order, each by a random amount.

    A number x stands for the range from 1 - x (at least 0) to 1 + x; for hue, from -x to x.
    """

    name: ClassVar[str] = "color_jitter"

    brightness: Factor = 0.4
    contrast: Factor = 0.4
    saturation: Factor = 0.4
    hue: Hue = 0.1
    p: Probability = 0.8

    def sample(self, rng: np.random.Generator, height: int, width: int) -> Steps | None:
        """The changes in their order, with their amounts."""
        numbers = rng.random(9).tolist()
        if numbers[0] >= self.p:
            return None
        order = sorted(range(4), key=numbers[5:].__getitem__)
        steps = []
        for index in order:
            low, high = self._range(index)
            if low == high == (0.0 if _STEPS[index] is ColorStep.HUE else 1.0):
                continue
            steps.append((_STEPS[index], low + (high - low) * numbers[1 + index]))
        return tuple(steps)

    def apply(self, image: ImageArray, params: Steps | None) -> ImageArray:
        return image if params is None else adjust(image, params)

    def _range(self, index: int) -> tuple[float, float]:
        value = (self.brightness, self.contrast, self.saturation, self.hue)[index]
        if isinstance(value, tuple):
            return value
        return (-value, value) if index == 3 else (max(0.0, 1.0 - value), 1.0 + value)
