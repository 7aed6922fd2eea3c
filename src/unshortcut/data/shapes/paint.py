"""From a plan to pixels: how each split shows its objects."""

import numpy as np
from numpy.typing import NDArray

from unshortcut.data.shapes.draw import (
    Canvas,
    Plane,
    fill,
    paint_background,
    paint_flat,
    paint_texture,
    stroke,
)
from unshortcut.data.shapes.plan import Plan, Thing
from unshortcut.imaging.patterns import random_pattern
from unshortcut.imaging.transfer import lay_texture
from unshortcut.randomness import generator


def paint(plan: Plan, split: str, size: int) -> NDArray[np.uint8]:
    """The image of a plan as the split shows it, uint8 (size, size, 3)."""
    canvas = np.zeros((size, size, 3), np.float32)
    first = plan.things[0]
    if plan.pen is not None:
        canvas[:] = plan.pen.paper
        paint_flat(canvas, stroke(first.points, size, plan.pen.width), plan.pen.ink)
    elif split == "silhouette":
        canvas[:] = np.mean(first.colors.background, axis=0)
        paint_flat(canvas, fill(first.points, size), first.colors.object[1])
    elif split == "texture":
        _lay(canvas, np.ones((size, size), np.float32), first)
    else:
        ground = plan.background
        paint_background(
            canvas,
            ground.angle,
            ground.weights,
            ground.stretch,
            ground.salt,
            first.colors.background,
        )
        for thing in plan.things:
            if plan.style is None:
                _lay(canvas, fill(thing.points, size), thing)
            else:
                paint_flat(canvas, fill(thing.points, size), thing.colors.object[1])
    pixels = (canvas * 255 + 0.5).astype(np.uint8)
    if plan.style is not None:
        pixels = lay_texture(pixels, random_pattern(generator(plan.style, "style"), size, size))
    return np.ascontiguousarray(np.rot90(pixels, plan.turns)) if plan.turns else pixels


def masks(plan: Plan, size: int) -> NDArray[np.bool_]:
    """(n, size, size): the pixels that each object covers by half or more."""
    return np.stack([fill(thing.points, size) >= 0.5 for thing in plan.things])


def _lay(canvas: Canvas, cover: Plane, thing: Thing) -> None:
    laid = thing.texture
    paint_texture(
        canvas,
        cover,
        laid.kind,
        laid.period,
        laid.angle,
        laid.origin,
        thing.colors.object,
    )
