"""RandAugment (Cubuk et al.) as InfoMin uses it: random operations of one magnitude.

The operations, and the amounts that a magnitude of 0 to 10 stands for, are those of the TPU code
for EfficientNets, which timm and PyContrast follow. In it, posterizing and solarizing become weaker
as the magnitude grows.
"""

from collections.abc import Callable
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from unshortcut.arrays import FloatArray, ImageArray
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.data.regions import IGNORED, MaskArray
from unshortcut.fields import Integer, Number, Probability
from unshortcut.imaging import enhance
from unshortcut.imaging.boxes import map_boxes
from unshortcut.imaging.color import ColorStep, adjust, solarize
from unshortcut.parts import settings
from unshortcut.randomness import Rng

Level = Annotated[Integer, Field(ge=0, le=255)]
Fill = tuple[Level, Level, Level]
Magnitude = Annotated[Number, Field(ge=0, le=10)]


class Step(NamedTuple):
    """One sampled operation."""

    operation: str
    amount: float
    """In the operation's own unit."""
    cubic: bool
    """Whether an affine map uses cubic instead of linear interpolation."""


@settings
class RandAugment(Augmentation):
    """`count` operations, each applied with probability p, with normally distributed magnitudes."""

    name = "rand_augment"

    count: Annotated[Integer, Field(ge=1, le=100)] = 2
    magnitude: Magnitude = 10.0
    magnitude_std: Magnitude = 0.5
    """Standard deviation of the magnitude, which is clipped to 0 to 10."""
    fill: Fill = (124, 116, 104)
    """Color of the pixels that a geometric operation leaves empty."""
    p: Probability = 0.5

    def sample(self, rng: Rng, height: int, width: int) -> tuple[Step, ...]:
        steps = []
        for _ in range(self.count):
            chance, position, side, smooth = rng.random(4).tolist()
            magnitude = self.magnitude + self.magnitude_std * rng.standard_normal()
            level = min(max(magnitude, 0.0), 10.0) / 10
            if chance < self.p:
                operation = OPERATIONS[int(position * len(OPERATIONS))]
                sign = -1 if operation in _TWO_SIDED and side < 0.5 else 1
                steps.append(Step(operation, sign * _AMOUNTS[operation](level), smooth < 0.5))
        return tuple(steps)

    def apply(self, image: ImageArray, params: tuple[Step, ...]) -> ImageArray:
        for step in params:
            image = operate(image, step, self.fill)
        return image

    def apply_boxes(
        self, boxes: FloatArray, params: tuple[Step, ...], height: int, width: int
    ) -> FloatArray:
        """Upright boxes around the moved ones, so a box gets larger when it is rotated."""
        for step in params:
            if (matrix := movement(step, height, width)) is not None:
                square = np.vstack([matrix, (0, 0, 1)])
                boxes = map_boxes(boxes, np.linalg.inv(square)[:2])
        return boxes

    def apply_mask(self, mask: MaskArray, params: tuple[Step, ...]) -> MaskArray:
        for step in params:
            if (matrix := movement(step, *mask.shape)) is not None:
                mask = enhance.move_mask(mask, matrix, IGNORED)
        return mask


def operate(image: ImageArray, step: Step, fill: Fill) -> ImageArray:
    """One operation on a uint8 (h, w, 3) image."""
    height, width = image.shape[:2]
    amount, cubic = step.amount, step.cubic
    match step.operation:
        case "autocontrast":
            return enhance.autocontrast(image)
        case "equalize":
            return enhance.equalize(image)
        case "invert":
            return enhance.invert(image)
        case "rotate":
            return enhance.rotate(image, amount, fill, cubic=cubic)
        case "posterize":
            return enhance.posterize(image, int(amount))
        case "solarize":
            return solarize(image, int(amount))
        case "solarize_add":
            return enhance.solarize_add(image, int(amount))
        case "color":
            return adjust(image, [(ColorStep.SATURATION, amount)])
        case "contrast":
            return adjust(image, [(ColorStep.CONTRAST, amount)])
        case "brightness":
            return adjust(image, [(ColorStep.BRIGHTNESS, amount)])
        case "sharpness":
            return enhance.sharpen(image, amount)
        case "shear_x":
            return enhance.affine(image, fill, shear_x=amount, cubic=cubic)
        case "shear_y":
            return enhance.affine(image, fill, shear_y=amount, cubic=cubic)
        case "translate_x":
            return enhance.affine(image, fill, shift_x=amount * width, cubic=cubic)
        case "translate_y":
            return enhance.affine(image, fill, shift_y=amount * height, cubic=cubic)
    raise ValueError(f"no operation is called '{step.operation}'")


def movement(step: Step, height: int, width: int) -> NDArray[np.float64] | None:
    """(2, 3): where the pixel at (x, y) of the result comes from, as (x, y, 1); None: from (x, y).

    Coordinates are continuous, as Pillow has them.
    """
    amount = step.amount
    match step.operation:
        case "rotate":
            return enhance.rotation_matrix(amount, height, width)
        case "shear_x":
            return np.array([[1, amount, 0], [0, 1, 0]])
        case "shear_y":
            return np.array([[1, 0, 0], [amount, 1, 0]])
        case "translate_x":
            return np.array([[1, 0, amount * width], [0, 1, 0]])
        case "translate_y":
            return np.array([[1, 0, 0], [0, 1, amount * height]])
    return None


_AMOUNTS: dict[str, Callable[[float], float]] = {
    **dict.fromkeys(("autocontrast", "equalize", "invert"), lambda level: 0.0),
    "rotate": lambda level: 30 * level,
    "posterize": lambda level: int(4 * level),
    "solarize": lambda level: int(256 * level),
    "solarize_add": lambda level: int(110 * level),
    **dict.fromkeys(
        ("color", "contrast", "brightness", "sharpness"), lambda level: 0.1 + 1.8 * level
    ),
    **dict.fromkeys(("shear_x", "shear_y"), lambda level: 0.3 * level),
    **dict.fromkeys(("translate_x", "translate_y"), lambda level: 0.45 * level),
}
"""Amounts for a magnitude from 0 to 1: degrees, bits, gray levels, factors, slopes, fractions."""
_TWO_SIDED = ("rotate", "shear_x", "shear_y", "translate_x", "translate_y")
OPERATIONS = tuple(_AMOUNTS)
