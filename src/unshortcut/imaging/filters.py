"""Edge-preserving filters of uint8 (h, w, 3) images that flatten texture, using OpenCV.

The papers state no parameters. The defaults are modified textbook values (bilateral 9 px, color 9,
space 7, seven times on an image of half the size; median 7, threshold block 9, offset 2), because
those leave much texture in photographs of 224 px, or blur their edges at half the size.
"""

from typing import Literal, get_args

import cv2
import numpy as np

from unshortcut.arrays import ImageArray

Outlines = Literal["image", "filtered"]
"""Where a cartoon's outlines come from: the image itself, or the image after the filter."""


def bilateral(
    image: ImageArray,
    *,
    diameter: int = 9,
    sigma_color: float = 30.0,
    sigma_space: float = 7.0,
    repeats: int = 3,
) -> ImageArray:
    """Bilateral filter: replace each pixel by a mean of neighbors that have a similar color.

    Args:
        image: uint8 (h, w, 3), of any size.
        diameter: diameter of the neighborhood in pixels.
        sigma_color: standard deviation of the weight in color space, as the sum of the channels'
            absolute differences; texture weaker than about this value disappears.
        sigma_space: standard deviation of the spatial weight, in pixels; above half the diameter,
            the weights are almost uniform.
        repeats: number of passes; several weak passes flatten more, with fewer halos, than a
            strong one.

    The result does not depend on OpenCV's number of threads.
    """
    if diameter < 1 or repeats < 0:
        raise ValueError(
            f"diameter must be at least 1 and repeats at least 0, not {diameter} and {repeats}"
        )
    if not (sigma_color > 0 and sigma_space > 0):
        raise ValueError(
            f"sigma_color and sigma_space must be above 0, not {sigma_color} and {sigma_space}"
        )
    filtered = np.array(image, np.uint8, order="C")
    for _ in range(repeats):
        smoothed = cv2.bilateralFilter(filtered, diameter, sigma_color, sigma_space)
        filtered = np.asarray(smoothed, np.uint8)
    return filtered


def cartoon(
    image: ImageArray,
    *,
    diameter: int = 9,
    sigma_color: float = 30.0,
    sigma_space: float = 7.0,
    repeats: int = 3,
    median: int = 7,
    block: int = 9,
    offset: float = 4.0,
    outlines: Outlines = "image",
) -> ImageArray:
    """Flat colors with black outlines: a bilateral filter, with the edges of the gray image.

    Args:
        image: uint8 (h, w, 3), of any size.
        diameter, sigma_color, sigma_space, repeats: settings of `bilateral`.
        median: size of the median filter of the gray levels in pixels, odd; it removes specks from
            the outlines.
        block: size of the neighborhood whose mean a gray level is compared with, odd, at least 3;
            outlines are up to half as wide.
        offset: how many levels below that mean a pixel must be to belong to an outline.
        outlines: whose gray levels are used: those of the image, as in the dissertation (section
            2.3.3), or those of the filtered image, which has fewer outlines inside of textures.
    """
    if outlines not in get_args(Outlines):
        raise ValueError(f"outlines must be one of {get_args(Outlines)}, not {outlines!r}")
    if median < 1 or median % 2 == 0 or block < 3 or block % 2 == 0:
        raise ValueError(
            f"median must be odd and at least 1, block odd and at least 3, not {median} and {block}"
        )
    sigmas = {"sigma_color": sigma_color, "sigma_space": sigma_space}
    colors = bilateral(image, diameter=diameter, repeats=repeats, **sigmas)
    drawn = np.ascontiguousarray(image, np.uint8) if outlines == "image" else colors
    gray = cv2.medianBlur(cv2.cvtColor(drawn, cv2.COLOR_RGB2GRAY), median)
    inside = cv2.adaptiveThreshold(
        gray, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, block, offset
    )
    return np.asarray(cv2.bitwise_and(colors, colors, mask=inside), np.uint8)
