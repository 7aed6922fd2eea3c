"""The 15 common corruptions of Hendrycks and Dietterich 2019 (ImageNet-C, CIFAR-10-C).

`corrupt(image, "fog", 3, rng)` makes the image foggy. Where the published definition leaves nothing
to chance, the result is that of the published code to the pixel; where it draws numbers, it is so
for the same numbers. `snow` and `frost` are the same in distribution only: see `DRAWN_HERE`.
"""

from typing import Any

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.imaging.corruptions import blur, digital, noise, weather
from unshortcut.imaging.corruptions.corruption import Corruption, nothing
from unshortcut.imaging.corruptions.severities import (
    SEVERITIES,
    Parameters,
    Severities,
    parameters,
)

__all__ = [
    "CORRUPTIONS",
    "DRAWN_HERE",
    "GROUPS",
    "SEVERITIES",
    "SMALLEST",
    "Corruption",
    "ImageArray",
    "Parameters",
    "Severities",
    "corrupt",
    "parameters",
]

CORRUPTIONS: dict[str, Corruption[Any]] = {
    "gaussian_noise": Corruption(noise.gaussian_noise, noise.draw_normal),
    "shot_noise": Corruption(noise.shot_noise, noise.draw_uniform),
    "impulse_noise": Corruption(noise.impulse_noise, noise.draw_uniform),
    "defocus_blur": Corruption(blur.defocus_blur, nothing),
    "glass_blur": Corruption(blur.glass_blur, blur.draw_glass_blur),
    "motion_blur": Corruption(blur.motion_blur, blur.draw_motion_blur),
    "zoom_blur": Corruption(blur.zoom_blur, nothing),
    "snow": Corruption(weather.snow, weather.draw_snow),
    "frost": Corruption(weather.frost, weather.draw_frost),
    "fog": Corruption(weather.fog, weather.draw_fog),
    "brightness": Corruption(weather.brightness, nothing),
    "contrast": Corruption(digital.contrast, nothing),
    "elastic_transform": Corruption(digital.elastic_transform, digital.draw_elastic_transform),
    "pixelate": Corruption(digital.pixelate, nothing),
    "jpeg_compression": Corruption(digital.jpeg_compression, nothing),
}
"""Each by its published name, in the published order."""

GROUPS: dict[str, tuple[str, ...]] = {
    "noise": ("gaussian_noise", "shot_noise", "impulse_noise"),
    "blur": ("defocus_blur", "glass_blur", "motion_blur", "zoom_blur"),
    "weather": ("snow", "frost", "fog", "brightness"),
    "digital": ("contrast", "elastic_transform", "pixelate", "jpeg_compression"),
}
"""The four published groups."""

DRAWN_HERE = ("snow", "frost")
"""Corruptions whose textures are drawn here: the published streaks of snow come from ImageMagick,
and the published frost from photographs. An mCE that uses them is not comparable to a published
one."""

SMALLEST = 8
"""The least side of an image, in pixels."""


def corrupt(
    image: ImageArray,
    name: str,
    severity: int,
    rng: np.random.Generator,
    severities: str = "imagenet",
) -> ImageArray:
    """A corrupted copy of an image.

    Args:
        image: uint8 (h, w, 3), each side at least 8 px.
        name: one of `CORRUPTIONS`.
        severity: 1 to 5.
        rng: the source of all that is random; the same state gives the same image.
        severities: "imagenet" (made for 224 px) or "cifar" (made for 32 px).

    Returns:
        An array of the same shape and dtype.

    Raises:
        UsageError: the name, the severity or the set of severities is not known.
        ValueError: the image is of another kind.
    """
    numbers = parameters(name, severity, severities)
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        raise ValueError(
            f"the image must be uint8 of shape (h, w, 3), not {image.dtype} of shape {image.shape}"
        )
    height, width = image.shape[:2]
    if min(height, width) < SMALLEST:
        raise ValueError(
            f"the sides of the image must be at least {SMALLEST} px, not {height} × {width}"
        )
    corruption = CORRUPTIONS[name]
    # Other layouts, and images that may not be written to, would each be compiled for anew.
    plain = np.require(image, requirements=["C_CONTIGUOUS", "WRITEABLE"])
    return corruption.apply(plain, numbers, corruption.draw(rng, height, width, numbers))
