"""How much of an image a saliency map covers, and how much of its edges.

The dissertation on suppressing texture (sections 2.4 and 2.10, metrics 2.9 to 2.17) says by eye
that models which go by shape have maps that spread over a bigger area and include the outlines of
objects. These are numbers for the two.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from unshortcut.measuring.subjects.images import Pixels

LEVEL = 0.5
"""Of a map's maximum: what is as high is salient."""
EDGES = 0.1
"""Share of an image's pixels that count as edges."""
_FINEST = 64
"""Edges are those of the image at about so many pixels a side, where fine texture is gone."""

Map = NDArray[np.float32]
Mask = NDArray[np.bool_]


def salient(saliency: Map) -> Mask:
    """Where a map (S, S), from 0 to 1, is at least half its maximum; nowhere in an empty map."""
    return (saliency >= LEVEL * saliency.max()) & (saliency.max() > 0)


def edges(pixels: Pixels) -> Mask:
    """(S, S): the tenth of the pixels with the steepest change of brightness; flat ones never."""
    gray = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)
    smooth = cv2.GaussianBlur(gray, (0, 0), max(0.5, len(pixels) / _FINEST))
    across, down = (cv2.Sobel(smooth, cv2.CV_32F, dx, 1 - dx) for dx in (1, 0))
    steepness = np.hypot(across, down)
    return np.asarray(steepness > np.quantile(steepness, 1 - EDGES))


def coverage(saliency: Map, pixels: Pixels) -> tuple[float, float]:
    """Shares of an image's area and of its edges that are salient; NaN for an empty map.

    The second is NaN also of a flat image.
    """
    if not saliency.max() > 0:
        return float("nan"), float("nan")
    where, steep = salient(saliency), edges(pixels)
    return float(where.mean()), float(where[steep].mean()) if steep.any() else float("nan")
