"""Some operations out of many, all of one strength: RandAugment (Cubuk et al.), as InfoMin has it.

The operations and the amounts that a magnitude of 0 to 10 stands for are those of the TPU code
for EfficientNets, which timm and PyContrast follow: there posterizing and solarizing weaken as the
magnitude grows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations._settings import check_number, check_probability, check_whole
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.errors import UsageError
from unshortcut.imaging.color import ColorStep, adjust, solarize
from unshortcut.imaging.enhance import (
    Fill,
    affine,
    autocontrast,
    equalize,
    invert,
    posterize,
    rotate,
    sharpen,
    solarize_add,
)


class Step(NamedTuple):
    """One operation that was drawn."""

    operation: str
    amount: float
    """In the operation's own unit."""
    cubic: bool
    """Whether an affine map interpolates by cubics, or linearly."""


@dataclass(frozen=True)
class RandAugment(Augmentation):
    """`count` operations, each with probability p, of a strength drawn around the magnitude."""

    name: ClassVar[str] = "rand_augment"

    count: int = 2
    magnitude: float = 10.0
    magnitude_std: float = 0.5
    """Standard deviation of the magnitude of an operation, which stays within 0 to 10."""
    fill: Fill = (124, 116, 104)
    """The color of what an image is moved away from."""
    p: float = 0.5

    def __post_init__(self) -> None:
        check_probability(self.name, self.p)
        check_whole(self.name, "count", self.count, 1, 100)
        check_number(self.name, "magnitude", self.magnitude, 0, 10)
        check_number(self.name, "magnitude_std", self.magnitude_std, 0, 10)
        if len(self.fill) != 3 or any(not 0 <= level <= 255 for level in self.fill):
            raise UsageError(f"rand_augment.fill must be three levels of 0 to 255, not {self.fill}")

    def sample(self, rng: np.random.Generator, height: int, width: int) -> tuple[Step, ...]:
        steps = []
        for _ in range(self.count):
            chance, place, side, smooth = rng.random(4).tolist()
            level = (
                min(max(self.magnitude + self.magnitude_std * rng.standard_normal(), 0.0), 10.0)
                / 10
            )
            if chance < self.p:
                operation = OPERATIONS[int(place * len(OPERATIONS))]
                amount = _AMOUNTS[operation](level) if operation in _AMOUNTS else 0.0
                sign = -1 if operation in _TWO_SIDED and side < 0.5 else 1
                steps.append(Step(operation, sign * amount, smooth < 0.5))
        return tuple(steps)

    def apply(self, image: ImageArray, params: tuple[Step, ...]) -> ImageArray:
        for step in params:
            image = operate(image, step, self.fill)
        return image


OPERATIONS = (
    "autocontrast",
    "equalize",
    "invert",
    "rotate",
    "posterize",
    "solarize",
    "solarize_add",
    "color",
    "contrast",
    "brightness",
    "sharpness",
    "shear_x",
    "shear_y",
    "translate_x",
    "translate_y",
)


def operate(image: ImageArray, step: Step, fill: Fill) -> ImageArray:
    """One operation on a uint8 (h, w, 3) image."""
    height, width = image.shape[:2]
    amount, cubic = step.amount, step.cubic
    match step.operation:
        case "autocontrast":
            return autocontrast(image)
        case "equalize":
            return equalize(image)
        case "invert":
            return invert(image)
        case "rotate":
            return rotate(image, amount, fill, cubic=cubic)
        case "posterize":
            return posterize(image, int(amount))
        case "solarize":
            return solarize(image, int(amount))
        case "solarize_add":
            return solarize_add(image, int(amount))
        case "color":
            return adjust(image, [(ColorStep.SATURATION, amount)])
        case "contrast":
            return adjust(image, [(ColorStep.CONTRAST, amount)])
        case "brightness":
            return adjust(image, [(ColorStep.BRIGHTNESS, amount)])
        case "sharpness":
            return sharpen(image, amount)
        case "shear_x":
            return affine(image, fill, shear_x=amount, cubic=cubic)
        case "shear_y":
            return affine(image, fill, shear_y=amount, cubic=cubic)
        case "translate_x":
            return affine(image, fill, shift_x=amount * width, cubic=cubic)
        case "translate_y":
            return affine(image, fill, shift_y=amount * height, cubic=cubic)
    raise ValueError(f"no operation is called '{step.operation}'")


def _enhancement(level: float) -> float:
    return 0.1 + 1.8 * level


_AMOUNTS: dict[str, Callable[[float], float]] = {
    "rotate": lambda level: 30 * level,
    "posterize": lambda level: int(4 * level),
    "solarize": lambda level: int(256 * level),
    "solarize_add": lambda level: int(110 * level),
    "color": _enhancement,
    "contrast": _enhancement,
    "brightness": _enhancement,
    "sharpness": _enhancement,
    "shear_x": lambda level: 0.3 * level,
    "shear_y": lambda level: 0.3 * level,
    "translate_x": lambda level: 0.45 * level,
    "translate_y": lambda level: 0.45 * level,
}
"""What a share of the greatest magnitude means: degrees, bits, levels, factors, slopes, shares."""
_TWO_SIDED = ("rotate", "shear_x", "shear_y", "translate_x", "translate_y")
