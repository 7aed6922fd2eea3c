"""`tint`: a color for each class around the middle of the image, where the background is."""

import colorsys
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from unshortcut.arrays import ImageArray
from unshortcut.data.planted import PaintedCue
from unshortcut.parts import settings
from unshortcut.randomness import Rng

_GOLDEN = 0.618034


@settings
class Tint(PaintedCue):
    """A color cast that grows from the middle of the image, where there is none, to its edges.

    Args:
        strength: weight of the color at the edges.
    """

    name: ClassVar[str] = "tint"

    strength: Annotated[float, Field(gt=0, le=1)] = 0.35

    def paint(self, pixels: ImageArray, label: int, rng: Rng) -> None:
        height, width = pixels.shape[:2]
        down, across = (np.abs(np.linspace(-1, 1, side)) for side in (height, width))
        weight = self.strength * np.maximum(down[:, None], across)[:, :, None] ** 2
        tint = 255 * np.array(colorsys.hsv_to_rgb(label * _GOLDEN % 1.0, 0.8, 0.9))
        pixels[:] = np.round(pixels + weight * (tint - pixels)).astype(np.uint8)
