"""Render a plan: how each split shows its objects."""

import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import ImageArray
from unshortcut.data.shapes import draw
from unshortcut.data.shapes.plan import DrawnObject, ImagePlan
from unshortcut.imaging.patterns import random_pattern
from unshortcut.imaging.transfer import overlay_texture
from unshortcut.randomness import generator


def paint(plan: ImagePlan, split: str, size: int) -> ImageArray:
    """Render a plan in the way of its split, uint8 (size, size, 3)."""
    canvas = np.zeros((size, size, 3), np.float32)
    first = plan.objects[0]
    if plan.pen is not None:
        canvas[:] = plan.pen.paper
        draw.paint_flat(canvas, draw.stroke(first.points, size, plan.pen.width), plan.pen.ink)
    elif split == "silhouette":
        canvas[:] = np.mean(first.colors.background, axis=0)
        draw.paint_flat(canvas, draw.fill(first.points, size), first.colors.object[1])
    elif split == "texture":
        _paint_object(canvas, np.ones((size, size), np.float32), first)
    else:
        draw.paint_background(canvas, *plan.background, first.colors.background)
        for item in plan.objects:
            if plan.style is None:
                _paint_object(canvas, draw.fill(item.points, size), item)
            else:
                draw.paint_flat(canvas, draw.fill(item.points, size), item.colors.object[1])
    pixels = (canvas * 255 + 0.5).astype(np.uint8)
    if plan.style is not None:
        pixels = overlay_texture(pixels, random_pattern(generator(plan.style, "style"), size, size))
    return np.ascontiguousarray(np.rot90(pixels, plan.rotations)) if plan.rotations else pixels


def masks(plan: ImagePlan, size: int) -> NDArray[np.bool_]:
    """(n, size, size): the pixels of which each object covers at least half."""
    return np.stack([draw.fill(item.points, size) >= 0.5 for item in plan.objects])


def _paint_object(canvas: draw.Canvas, cover: draw.Coverage, item: DrawnObject) -> None:
    draw.paint_texture(canvas, cover, *item.texture, item.colors.object)
