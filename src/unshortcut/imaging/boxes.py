"""Geometry of boxes: (n, 4) float32, x0, y0, x1, y1 in pixels, moved as the image around them.

Coordinates are continuous: pixel i reaches from i to i + 1. Results are not clipped to the image.
"""

import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import FloatArray
from unshortcut.imaging.geometry import Box


def resize_boxes(boxes: FloatArray, box: Box, height: int, width: int) -> FloatArray:
    """Boxes after `box` was cut out of the image and resized to height × width."""
    top, left, box_height, box_width = box
    start = np.array([left, top, left, top])
    scale = np.array([width / box_width, height / box_height] * 2)
    return ((boxes - start) * scale).astype(np.float32)


def flip_boxes_horizontal(boxes: FloatArray, width: int) -> FloatArray:
    """Boxes after an image of this width was flipped left to right."""
    x0, y0, x1, y1 = boxes.T
    return np.stack([width - x1, y0, width - x0, y1], axis=1).astype(np.float32)


def flip_boxes_vertical(boxes: FloatArray, height: int) -> FloatArray:
    """Boxes after an image of this height was flipped upside down."""
    x0, y0, x1, y1 = boxes.T
    return np.stack([x0, height - y1, x1, height - y0], axis=1).astype(np.float32)


def rotate_boxes90(boxes: FloatArray, times: int, height: int, width: int) -> FloatArray:
    """Boxes after an image of height × width was rotated counterclockwise by `times` 90 degrees."""
    for _ in range(times % 4):
        x0, y0, x1, y1 = boxes.T
        boxes = np.stack([y0, width - x1, y1, width - x0], axis=1).astype(np.float32)
        height, width = width, height
    return boxes


def map_boxes(boxes: FloatArray, matrix: NDArray[np.float64]) -> FloatArray:
    """The upright boxes around the images of boxes under an affine map (2, 3) of (x, y, 1)."""
    corners = boxes[:, [[0, 1], [2, 1], [0, 3], [2, 3]]]  # (n, 4, 2)
    mapped = corners @ matrix[:, :2].T + matrix[:, 2]
    return np.concatenate([mapped.min(axis=1), mapped.max(axis=1)], axis=1).astype(np.float32)


def clip_boxes(boxes: FloatArray, height: int, width: int) -> FloatArray:
    """The parts of boxes that lie inside an image of height × width."""
    return np.clip(boxes, 0, np.array([width, height, width, height])).astype(np.float32)


def areas(boxes: FloatArray) -> NDArray[np.float64]:
    """(n,): the area of each box."""
    sides = (boxes[:, 2:] - boxes[:, :2]).astype(np.float64)
    return np.asarray(sides.prod(axis=1))
