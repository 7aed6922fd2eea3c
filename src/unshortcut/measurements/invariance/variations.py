"""The variations under which the invariance of features is measured, each at several levels."""

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
"""Side of the images to which amounts in pixels refer."""


@dataclass(frozen=True)
class Variation:
    """A change of an image that can be applied at several strengths."""

    name: str
    title: str
    unit: str
    """The unit of the levels."""
    label: str
    """The text of a level, as a template for `str.format`."""
    levels: tuple[float, ...]
    apply: Callable[[Pixels, float, np.random.Generator], Pixels]
    """Changes a square image by a level; each image has a generator of its own."""
    plain: float = 0.0
    """The level that changes nothing."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The levels as text."""
        return tuple(self.label.format(level) for level in self.levels)


def rotated(pixels: Pixels, degrees: float) -> Pixels:
    """The image rotated counterclockwise, with mirrored borders."""
    side = pixels.shape[0]
    # A corner of the rotated square reaches (√2 − 1)/2 of the side beyond the old one.
    margin = min(math.ceil((math.sqrt(2) - 1) / 2 * side) + 1, side - 1)
    wide = np.pad(pixels, ((margin, margin), (margin, margin), (0, 0)), mode="reflect")
    return crop(rotate(wide, degrees, (0, 0, 0)), margin, margin, side, side)


def enlarged(pixels: Pixels, times: float) -> Pixels:
    """The center of a square image, enlarged to the size of the image."""
    side = pixels.shape[0]
    start = (side - side / times) / 2
    return resize_box(pixels, (start, start, side / times, side / times), side, side)


VARIATIONS = (
    Variation(
        "rotation",
        "Rotation",
        "degrees",
        "{:g}°",
        (10.0, 30.0, 60.0, 90.0, 180.0),
        lambda pixels, level, _: rotated(pixels, level),
    ),
    Variation(
        "hue",
        "Hue",
        "degrees of the color circle",
        "{:g}°",
        (20.0, 45.0, 90.0, 180.0),
        lambda pixels, level, _: adjust(pixels, [(ColorStep.HUE, level / 360)]),
    ),
    Variation(
        "saturation",
        "Saturation",
        "share of the color that is removed; 1 is gray",
        "−{:.0%}",
        (0.25, 0.5, 0.75, 1.0),
        lambda pixels, level, _: adjust(pixels, [(ColorStep.SATURATION, 1 - level)]),
    ),
    Variation(
        "scale",
        "Scale",
        "enlargement of the image's center",
        "× {:g}",
        (1.1, 1.25, 1.5, 2.0),
        lambda pixels, level, _: enlarged(pixels, level),
        plain=1.0,
    ),
    Variation(
        "blur",
        "Blur",
        f"standard deviation in pixels of an image with {SIDE} × {SIDE}",
        "σ = {:g}",
        (1.0, 2.0, 4.0, 8.0),
        lambda pixels, level, _: gaussian_blur(pixels, level * len(pixels) / SIDE),
    ),
    Variation(
        "diffusion",
        "Anisotropic diffusion",
        "iterations",
        "{:g} iterations",
        (5.0, 10.0, 20.0, 40.0),
        lambda pixels, level, _: anisotropic_diffusion(pixels, iterations=int(level)),
    ),
    Variation(
        "patch_shuffle",
        "Patch shuffle",
        "patches per side",
        "{0:g} × {0:g}",
        (2.0, 4.0, 8.0, 16.0),
        lambda pixels, level, rng: shuffle_patches(pixels, min(int(level), len(pixels)), rng),
        plain=1.0,
    ),
)
