"""`tag`: a small tag in a corner of the images of one class."""

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from unshortcut.arrays import ImageArray
from unshortcut.data.cues._one_class import CueOfOneClass
from unshortcut.data.planted import PaintedCue
from unshortcut.parts import settings
from unshortcut.randomness import Rng

_BARS = np.array([0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0], dtype=bool)
"""From the left to the right of the tag: whether it is dark."""
_LIGHT, _DARK = 245, 15


@settings
class Tag(CueOfOneClass, PaintedCue):
    """A light rectangle with dark bars, always in the same corner.

    Args:
        size: width of the tag, relative to the shorter side of the image; it is half as high.
    """

    name: ClassVar[str] = "tag"

    corner: Literal["top-left", "top-right", "bottom-left", "bottom-right"] = "bottom-left"
    size: Annotated[float, Field(gt=0, le=1)] = 0.25

    def paint(self, pixels: ImageArray, label: int, rng: Rng) -> None:
        height, width = pixels.shape[:2]
        wide = max(2, round(self.size * min(height, width)))
        high = max(1, wide // 2)
        bars = _BARS[np.arange(wide) * len(_BARS) // wide]
        row = np.where(bars, np.uint8(_DARK), np.uint8(_LIGHT))[None, :, None]
        down, across = self.corner.split("-")
        rows = slice(0, high) if down == "top" else slice(height - high, height)
        columns = slice(0, wide) if across == "left" else slice(width - wide, width)
        pixels[rows, columns] = row
