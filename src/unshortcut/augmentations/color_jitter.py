"""Brightness, contrast, saturation, hue in random order: torchvision's `ColorJitter`."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations._settings import as_range, check_number, check_probability
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.imaging.color import ColorStep, adjust

Amount = float | tuple[float, float]
Steps = tuple[tuple[ColorStep, float], ...]

_STEPS = (ColorStep.BRIGHTNESS, ColorStep.CONTRAST, ColorStep.SATURATION, ColorStep.HUE)


@dataclass(frozen=True)
class ColorJitter(Augmentation):
    """With probability p, each of four color steps by an amount drawn from its range.

    A number x stands for the range from 1 - x (at least 0) to 1 + x; for hue, from -x to x.
    """

    name: ClassVar[str] = "color_jitter"

    brightness: Amount = 0.4
    contrast: Amount = 0.4
    saturation: Amount = 0.4
    hue: Amount = 0.1
    p: float = 0.8

    def __post_init__(self) -> None:
        check_probability(self.name, self.p)
        for key in ("brightness", "contrast", "saturation"):
            self._check(key, 0.0, float("inf"))
        self._check("hue", -0.5, 0.5)

    def sample(self, rng: np.random.Generator, height: int, width: int) -> Steps | None:
        """The steps in their order with their amounts."""
        draws = rng.random(9).tolist()
        if draws[0] >= self.p:
            return None
        order = sorted(range(4), key=draws[5:].__getitem__)
        steps = []
        for index in order:
            low, high = self._range(index)
            if low == high == (0.0 if _STEPS[index] is ColorStep.HUE else 1.0):
                continue
            steps.append((_STEPS[index], low + (high - low) * draws[1 + index]))
        return tuple(steps)

    def apply(self, image: ImageArray, params: Steps | None) -> ImageArray:
        return image if params is None else adjust(image, params)

    def _check(self, key: str, low: float, high: float) -> None:
        value = getattr(self, key)
        if isinstance(value, list | tuple):
            object.__setattr__(self, key, as_range(self.name, key, value, low, high))
        else:
            check_number(self.name, key, value, 0.0, high)

    def _range(self, index: int) -> tuple[float, float]:
        value = (self.brightness, self.contrast, self.saturation, self.hue)[index]
        if isinstance(value, tuple):
            return value
        return (-value, value) if index == 3 else (max(0.0, 1.0 - value), 1.0 + value)
