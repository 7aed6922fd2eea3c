"""Ranking boxes without labels: what differs from its surroundings is an object.

Boxes are (n, 4), x0, y0, x1, y1 in whole cells of a map; a map (h, w, C) has a feature per cell.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import FloatArray, ImageArray, IndexArray

_MARGIN = 0.25
"""Width of the ring around a box, relative to the box."""
_LEVELS = 6
"""Levels of each color channel; lightness has half as many, since it changes with the light."""

Map = NDArray[np.float32]


def overlaps(boxes: FloatArray, others: FloatArray) -> NDArray[np.float32]:
    """(n, m): the area of the intersection of two boxes divided by that of their union."""
    low = np.maximum(boxes[:, None, :2], others[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], others[None, :, 2:])
    both = np.clip(high - low, 0, None).prod(axis=2)
    areas, other_areas = ((one[:, 2:] - one[:, :2]).prod(axis=1) for one in (boxes, others))
    union = areas[:, None] + other_areas[None] - both
    return np.divide(both, union, out=np.zeros_like(both, np.float32), where=union > 0)


def covered(annotated: FloatArray, proposed: FloatArray, overlap: float = 0.5) -> NDArray[np.bool_]:
    """(n,): which of the boxes (n, 4) overlap at least so much with one of those (m, 4)."""
    if not len(annotated) or not len(proposed):
        return np.zeros(len(annotated), dtype=np.bool_)
    return np.asarray(overlaps(annotated, proposed).max(axis=1) >= overlap)


def suppress(boxes: FloatArray, scores: FloatArray, most: int, overlap: float = 0.5) -> IndexArray:
    """Indices of the `most` best boxes of which no two overlap by more, best first.

    Boxes of equal scores come in the order of their coordinates.
    """
    order = np.lexsort((*boxes.T, -scores))
    kept: list[int] = []
    for index in order:
        if not kept or overlaps(boxes[index : index + 1], boxes[kept]).max() < overlap:
            kept.append(int(index))
            if len(kept) == most:
                break
    return np.array(kept, dtype=np.int64)


def contrast(cells: Map, boxes: IndexArray, *, histograms: bool = False) -> FloatArray:
    """(n,): how much the mean feature of each box differs from that of the ring around it.

    The distance is Euclidean, or, for `histograms`, half the sum of absolute differences, from 0
    for equal ones to 1 for disjoint ones. The ring of a box that fills the map is empty: 0.
    """
    height, width = cells.shape[:2]
    sums = np.zeros((height + 1, width + 1, cells.shape[2]), dtype=np.float64)
    sums[1:, 1:] = cells.cumsum(axis=0, dtype=np.float64).cumsum(axis=1)
    sides = boxes[:, 2:] - boxes[:, :2]
    margin = np.maximum(np.rint(_MARGIN * sides), 1).astype(np.int64)
    outer = np.concatenate([boxes[:, :2] - margin, boxes[:, 2:] + margin], axis=1)
    outer = np.clip(outer, 0, [width, height, width, height])
    inside, whole = _sums(sums, boxes), _sums(sums, outer)
    count = sides.prod(axis=1)[:, None]
    around = (outer[:, 2:] - outer[:, :2]).prod(axis=1)[:, None] - count
    difference = inside / np.maximum(count, 1) - (whole - inside) / np.maximum(around, 1)
    if histograms:
        found = np.abs(difference).sum(axis=1) / 2
    else:
        found = np.linalg.norm(difference, axis=1)
    return np.where(around[:, 0] > 0, found, 0).astype(np.float32)


def color_histograms(image: ImageArray) -> Map:
    """(h, w, C): the color of each pixel of an RGB image as a vector with a single 1."""
    lab = cv2.cvtColor(np.ascontiguousarray(image), cv2.COLOR_RGB2LAB).astype(np.int64)
    levels = lab * _LEVELS // 256
    codes = (levels[..., 0] // 2 * _LEVELS + levels[..., 1]) * _LEVELS + levels[..., 2]
    seen, numbers = np.unique(codes, return_inverse=True)
    return np.eye(len(seen), dtype=np.float32)[numbers.reshape(codes.shape)]


def _sums(table: NDArray[np.float64], boxes: IndexArray) -> NDArray[np.float64]:
    x0, y0, x1, y1 = boxes.T
    found: NDArray[np.float64] = table[y1, x1] - table[y0, x1] - table[y1, x0] + table[y0, x0]
    return found
