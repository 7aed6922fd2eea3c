"""The 15 common corruptions of Hendrycks and Dietterich 2019 (ImageNet-C, CIFAR-10-C).

`corrupt(image, "fog", 3, rng)` adds fog to the image. Given the same random numbers, results equal
those of the published code to the pixel, except for `snow` and `frost`; see `APPROXIMATE`.
"""

from typing import Any

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.imaging.corruptions import blur, digital, noise, weather
from unshortcut.imaging.corruptions.corruption import Corruption, sample_nothing
from unshortcut.imaging.corruptions.severities import SEVERITIES, parameters
from unshortcut.randomness import Rng

__all__ = [
    "APPROXIMATE",
    "CORRUPTIONS",
    "GROUPS",
    "SEVERITIES",
    "SMALLEST",
    "corrupt",
    "parameters",
]

CORRUPTIONS: dict[str, Corruption[Any]] = {
    "gaussian_noise": Corruption(noise.gaussian_noise, noise.sample_normal),
    "shot_noise": Corruption(noise.shot_noise, noise.sample_uniform),
    "impulse_noise": Corruption(noise.impulse_noise, noise.sample_uniform),
    "defocus_blur": Corruption(blur.defocus_blur, sample_nothing),
    "glass_blur": Corruption(blur.glass_blur, blur.sample_glass_blur),
    "motion_blur": Corruption(blur.motion_blur, blur.sample_motion_blur),
    "zoom_blur": Corruption(blur.zoom_blur, sample_nothing),
    "snow": Corruption(weather.snow, weather.sample_snow),
    "frost": Corruption(weather.frost, weather.sample_frost),
    "fog": Corruption(weather.fog, weather.sample_fog),
    "brightness": Corruption(weather.brightness, sample_nothing),
    "contrast": Corruption(digital.contrast, sample_nothing),
    "elastic_transform": Corruption(digital.elastic_transform, digital.sample_elastic_transform),
    "pixelate": Corruption(digital.pixelate, sample_nothing),
    "jpeg_compression": Corruption(digital.jpeg_compression, sample_nothing),
}
"""By published name, in the published order."""

GROUPS: dict[str, tuple[str, ...]] = {
    "noise": ("gaussian_noise", "shot_noise", "impulse_noise"),
    "blur": ("defocus_blur", "glass_blur", "motion_blur", "zoom_blur"),
    "weather": ("snow", "frost", "fog", "brightness"),
    "digital": ("contrast", "elastic_transform", "pixelate", "jpeg_compression"),
}
"""The four published groups."""

APPROXIMATE = ("snow", "frost")
"""Corruptions that only approximate the published ones, which use ImageMagick for the streaks of
snow and photographs for frost. An mCE that includes them is not comparable to a published one."""

SMALLEST = 8
"""The shortest side that an image may have, in pixels."""


def corrupt(
    image: ImageArray, name: str, severity: int, rng: Rng, severities: str = "imagenet"
) -> ImageArray:
    """Apply a corruption to a copy of an image.

    Args:
        image: uint8 (h, w, 3), each side at least 8 px.
        name: one of `CORRUPTIONS`.
        severity: 1 to 5.
        rng: random generator; the same state gives the same image.
        severities: "imagenet" (designed for 224 px) or "cifar" (designed for 32 px).

    Returns:
        An array of the same shape and dtype.

    Raises:
        UsageError: the name, the severity or the set of severities is unknown.
        ValueError: the image has another shape or dtype, or is too small.
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
    # Numba would compile again for other memory layouts and for read-only arrays.
    plain = np.require(image, requirements=["C_CONTIGUOUS", "WRITEABLE"])
    return corruption.apply(plain, numbers, corruption.sample(rng, height, width, numbers))
