"""The box of an object made larger: dilated, grown to a window, or joined with other boxes.

Boxes are x0, y0, x1, y1 in pixels, inside an image of height × width, and so are results.
"""

from typing import Literal

from unshortcut.arrays import FloatArray
from unshortcut.randomness import Rng

Corners = tuple[float, float, float, float]
"""x0, y0, x1, y1."""
Formula = Literal["box", "published"]
Growth = Literal["centered", "published", "random"]


def dilate(box: Corners, share: float, formula: Formula, height: int, width: int) -> Corners:
    """A box with a margin, clipped to the image.

    `box` adds the share of the box's own width left and right, and of its height above and below.
    `published` is the formula of the code of object-aware cropping, x0 − δx0 and x1 + δx1, whose
    margin depends on where the box is: none at the left edge, most of it at the right.

    >>> dilate((100, 0, 200, 50), 0.2, "box", 300, 300)
    (80.0, 0.0, 220.0, 60.0)
    >>> dilate((100, 0, 200, 50), 0.2, "published", 300, 300)
    (80.0, 0.0, 240.0, 60.0)
    """
    x0, y0, x1, y1 = box
    if formula == "box":
        across, down = share * (x1 - x0), share * (y1 - y0)
        dilated = x0 - across, y0 - down, x1 + across, y1 + down
    else:
        dilated = x0 - share * x0, y0 - share * y0, x1 + share * x1, y1 + share * y1
    return _clipped(dilated, height, width)


def grow(box: Corners, window: float, growth: Growth, rng: Rng, height: int, width: int) -> Corners:
    """A box of which sides that are shorter than the window are made longer.

    `centered` grows a side to the window around its center, moved into the image. `published` is
    the rule of the code of object-aware cropping: half a window on both ends, or, where there is no
    room for that, a window at the border. `random` is that of hyperbolic contrastive learning: if
    the area is smaller than that of the window, each end moves outward by a random part of what the
    side lacks.
    """
    x0, y0, x1, y1 = box
    if growth == "random":
        if (x1 - x0) * (y1 - y0) >= window**2:
            return box
        (x0, x1), (y0, y1) = (
            _grown_at_random(low, high, window, end, rng)
            for low, high, end in ((x0, x1, width), (y0, y1, height))
        )
    else:
        side = _centered if growth == "centered" else _published
        (x0, x1), (y0, y1) = side(x0, x1, window, width), side(y0, y1, window, height)
    return _clipped((x0, y0, x1, y1), height, width)


def union(boxes: FloatArray) -> Corners:
    """The smallest box around boxes (n, 4)."""
    (x0, y0), (x1, y1) = boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)
    return float(x0), float(y0), float(x1), float(y1)


def _centered(low: float, high: float, window: float, end: float) -> tuple[float, float]:
    window = min(window, end)
    if high - low >= window:
        return low, high
    start = min(max((low + high - window) / 2, 0.0), end - window)
    return start, start + window


def _published(low: float, high: float, window: float, end: float) -> tuple[float, float]:
    if high - low >= window:
        return low, high
    if low - window / 2 > 0:
        low -= window / 2
    else:
        low, high = 0.0, window
    if high + window / 2 < end:
        high += window / 2
    else:
        high = min(high, end)
        low = high - window
    return low, high


def _grown_at_random(
    low: float, high: float, window: float, end: float, rng: Rng
) -> tuple[float, float]:
    slack = max(0.0, window - (high - low))
    first, last = rng.random(2)
    return low - first * min(slack, low), high + last * min(slack, max(end - high, 0.0))


def _clipped(box: Corners, height: int, width: int) -> Corners:
    x0, y0, x1, y1 = box
    return (
        float(max(x0, 0.0)),
        float(max(y0, 0.0)),
        float(min(x1, width)),
        float(min(y1, height)),
    )
