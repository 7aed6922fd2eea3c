"""Scenes: images with several objects, their boxes and masks."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import FloatArray, ImageArray, IndexArray
from unshortcut.data.regions import MaskArray, Regions
from unshortcut.data.shapes.context import CONTEXTS
from unshortcut.data.shapes.outlines import SHAPE_NAMES
from unshortcut.data.shapes.paint import masks, paint
from unshortcut.data.shapes.plan import DrawnObject, ImagePlan

MASK_CLASSES = ("background", *SHAPE_NAMES)


@dataclass(frozen=True)
class Scene:
    """An image and all of its objects."""

    image: ImageArray
    """(h, w, 3)"""
    boxes: FloatArray
    """(n, 4): x0, y0, x1, y1 in pixels, the bounding boxes of the masks."""
    masks: NDArray[np.bool_]
    """(n, h, w)"""
    shape_labels: IndexArray
    """(n,)"""
    texture_labels: IndexArray
    """(n,)"""
    odd: NDArray[np.bool_]
    """(n,): objects that do not belong to the others, at most one."""


def draw_scene(plan: ImagePlan, split: str, size: int) -> Scene:
    """Render a scene with everything that is known of its objects."""
    numbers, objects, covered = _visible(plan, size)
    return Scene(
        paint(plan, split, size),
        _boxes(covered),
        covered,
        np.array([item.shape for item in objects], dtype=np.int64),
        np.array([item.texture.kind for item in objects], dtype=np.int64),
        numbers == plan.odd,
    )


def scene_regions(plan: ImagePlan, split: str, size: int) -> Regions:
    """Boxes by shape, and a mask of `MASK_CLASSES`; the image itself is not drawn."""
    numbers, objects, covered = _visible(plan, size)
    labels = np.array([item.shape for item in objects], dtype=np.int64)
    mask: MaskArray = np.zeros((size, size), dtype=np.uint8)
    for label, one in zip(labels, covered, strict=True):
        mask[one] = label + 1
    odd = numbers == plan.odd if split in CONTEXTS else None
    return Regions.of_boxes(_boxes(covered), labels, mask=mask, odd=odd)


def _visible(plan: ImagePlan, size: int) -> tuple[IndexArray, list[DrawnObject], NDArray[np.bool_]]:
    """The objects with a pixel of their own, and their masks; at 16 px a few have none."""
    covered = masks(plan, size)
    seen = np.flatnonzero(covered.reshape(len(covered), -1).any(axis=1))
    return seen, [plan.objects[one] for one in seen], covered[seen]


def _boxes(covered: NDArray[np.bool_]) -> FloatArray:
    """(n, 4): the bounding boxes of masks."""
    return np.array([_box(mask) for mask in covered], dtype=np.float32).reshape(-1, 4)


def _box(mask: NDArray[np.bool_]) -> tuple[int, int, int, int]:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1
