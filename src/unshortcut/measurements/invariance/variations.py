"""What images are put through to see how far a model's features move, level by level."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unshortcut.imaging.blur import gaussian_blur
from unshortcut.imaging.color import ColorStep, adjust
from unshortcut.imaging.diffusion import anisotropic_diffusion
from unshortcut.imaging.enhance import rotate
from unshortcut.imaging.geometry import crop, resize_box
from unshortcut.imaging.shuffle import shuffle_patches
from unshortcut.measuring.subjects.images import Pixels

SIDE = 224
"""Of the images that the papers' amounts in pixels are for."""


@dataclass(frozen=True)
class Variation:
    """One thing that can be done to an image, more and more of it."""

    name: str
    title: str
    unit: str
    """What a level counts, for people."""
    label: str
    """A level as a word, in the form of `str.format`."""
    plain: float
    """The level that changes nothing."""
    levels: tuple[float, ...]
    apply: Callable[[Pixels, float, np.random.Generator], Pixels]
    """A square image at a level; the generator is the image's own."""

    @property
    def words(self) -> tuple[str, ...]:
        """The levels, for people."""
        return tuple(self.label.format(level) for level in self.levels)


def turned(pixels: Pixels, degrees: float) -> Pixels:
    """Rotated counter-clockwise; what lies beyond the image is its mirror image, not a color."""
    side = pixels.shape[0]
    # A corner of the turned square reaches (√2 − 1)/2 of the side beyond the old one.
    margin = min(math.ceil((math.sqrt(2) - 1) / 2 * side) + 1, side - 1)
    wide = np.pad(pixels, ((margin, margin), (margin, margin), (0, 0)), mode="reflect")
    return crop(rotate(wide, degrees, (0, 0, 0)), margin, margin, side, side)


def enlarged(pixels: Pixels, times: float) -> Pixels:
    """The center of a square image, as large as all of it was."""
    side = pixels.shape[0]
    start = (side - side / times) / 2
    return resize_box(pixels, (start, start, side / times, side / times), side, side)


def blurred(pixels: Pixels, sigma: float) -> Pixels:
    """By a standard deviation that is so many pixels where an image has 224."""
    return gaussian_blur(pixels, sigma * pixels.shape[0] / SIDE)


def shuffled(pixels: Pixels, grid: float, rng: np.random.Generator) -> Pixels:
    """Patches of a grid change places; of one pixel each where the grid is finer than that."""
    return shuffle_patches(pixels, min(int(grid), pixels.shape[0]), rng)


VARIATIONS = (
    Variation(
        "rotation",
        "Rotation",
        "degrees",
        "{:g}°",
        0.0,
        (10.0, 30.0, 60.0, 90.0, 180.0),
        lambda pixels, level, _: turned(pixels, level),
    ),
    Variation(
        "hue",
        "Hue",
        "degrees of the color circle",
        "{:g}°",
        0.0,
        (20.0, 45.0, 90.0, 180.0),
        lambda pixels, level, _: adjust(pixels, [(ColorStep.HUE, level / 360)]),
    ),
    Variation(
        "saturation",
        "Saturation",
        "share of the color that is taken away; 1 is gray",
        "−{:.0%}",
        0.0,
        (0.25, 0.5, 0.75, 1.0),
        lambda pixels, level, _: adjust(pixels, [(ColorStep.SATURATION, 1 - level)]),
    ),
    Variation(
        "scale",
        "Scale",
        "enlargement of the image's center",
        "× {:g}",
        1.0,
        (1.1, 1.25, 1.5, 2.0),
        lambda pixels, level, _: enlarged(pixels, level),
    ),
    Variation(
        "blur",
        "Blur",
        f"standard deviation in pixels, where an image has {SIDE}",
        "σ = {:g}",
        0.0,
        (1.0, 2.0, 4.0, 8.0),
        lambda pixels, level, _: blurred(pixels, level),
    ),
    Variation(
        "diffusion",
        "Anisotropic diffusion",
        "iterations",
        "{:g} iterations",
        0.0,
        (5.0, 10.0, 20.0, 40.0),
        lambda pixels, level, _: anisotropic_diffusion(pixels, iterations=int(level)),
    ),
    Variation(
        "patch_shuffle",
        "Patch shuffle",
        "patches a side",
        "{0:g} × {0:g}",
        1.0,
        (2.0, 4.0, 8.0, 16.0),
        shuffled,
    ),
)
