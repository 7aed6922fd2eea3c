"""Pictures of a transplant: where a patch was, what it looks like, what it did."""

import cv2
import numpy as np
from numpy.typing import NDArray

from unshortcut.measurements.transplant.regions import Region
from unshortcut.measuring.exhibits import Picture, picture
from unshortcut.measuring.subjects.images import Pixels

SIDE = 160
_GRAY = 128


def outlined(pixels: Pixels, region: Region, caption: str) -> Picture:
    """An image with a line around a region: black outside, white inside, seen on any ground."""
    shown = _enlarged(pixels)
    mask = _enlarged(region.mask.astype(np.uint8))
    line = np.ones((5, 5), np.uint8)
    shown[(cv2.dilate(mask, line) > 0) & (mask == 0)] = 0
    shown[(mask > 0) & (cv2.erode(mask, line, borderValue=0) == 0)] = 255
    return picture(shown, caption, side=SIDE)


def cut_out(pixels: Pixels, region: Region, caption: str) -> Picture:
    """A region by itself, enlarged; what is not of it is gray."""
    left, top, right, bottom = region.box
    alone = np.where(region.mask[:, :, None], pixels, np.uint8(_GRAY))[top:bottom, left:right]
    return picture(_enlarged(alone), caption, side=SIDE)


def pasted(pixels: Pixels, caption: str) -> Picture:
    """An image that followed a patch."""
    return picture(_enlarged(pixels), caption, "bad", side=SIDE)


def _enlarged(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """At least `SIDE` on its longer side, in whole pixels."""
    factor = -(-SIDE // max(pixels.shape[:2]))
    return np.ascontiguousarray(pixels.repeat(factor, axis=0).repeat(factor, axis=1))
