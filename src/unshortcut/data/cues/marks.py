"""`marks`: a small mark for each class, at a random place in the image."""

import colorsys
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from unshortcut.arrays import ImageArray
from unshortcut.data.planted import PaintedCue
from unshortcut.parts import settings
from unshortcut.randomness import Rng

_GOLDEN = 0.618034
_OFFSETS = (1 / 2, 1 / 4, 3 / 4)


@settings
class Marks(PaintedCue):
    """A square of two bands in the two colors of the class, as large as a sticker.

    Args:
        size: side of the mark, relative to the shorter side of the image.
    """

    name: ClassVar[str] = "marks"

    size: Annotated[float, Field(gt=0, le=1)] = 0.1875

    def paint(self, pixels: ImageArray, label: int, rng: Rng) -> None:
        height, width = pixels.shape[:2]
        side = max(2, round(self.size * min(height, width)))
        across, down = rng.random(2)
        left, top = int(across * (width - side + 1)), int(down * (height - side + 1))
        upper, lower = mark_colors(label)
        pixels[top : top + side // 2, left : left + side] = upper
        pixels[top + side // 2 : top + side, left : left + side] = lower


def mark_colors(label: int) -> ImageArray:
    """The upper and the lower color of the mark of a class, uint8 (2, 3).

    Hues that are the golden ratio apart stay far from each other for any number of classes.
    """
    upper = label * _GOLDEN % 1.0
    lower = (upper + _OFFSETS[label % len(_OFFSETS)]) % 1.0
    colors = [colorsys.hsv_to_rgb(hue, 1.0, 1.0) for hue in (upper, lower)]
    return np.round(np.array(colors) * 255).astype(np.uint8)
