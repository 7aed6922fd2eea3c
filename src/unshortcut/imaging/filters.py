"""Filters that flatten texture and keep edges, of uint8 (h, w, 3) images, through OpenCV.

The papers give no parameters. These start from the textbook's (bilateral 9 px, color 9, space 7,
seven times on an image of half the size; median 7, threshold block 9, offset 2), which leave much
texture in photographs of 224 px or, at half the size, blur their edges.
"""

import cv2
import numpy as np

from unshortcut.arrays import ImageArray


def bilateral(
    image: ImageArray,
    *,
    diameter: int = 9,
    sigma_color: float = 30.0,
    sigma_space: float = 7.0,
    repeats: int = 3,
) -> ImageArray:
    """Each pixel becomes a mean of the neighbors that are alike in color.

    Args:
        image: uint8 (h, w, 3), of any size.
        diameter: pixels across the neighborhood.
        sigma_color: standard deviation of the weight in color, as the sum of the channels'
            absolute differences; texture of about this strength and less goes.
        sigma_space: standard deviation of the weight in place, in pixels; above half the diameter
            the neighborhood counts almost evenly.
        repeats: how often; several weak passes flatten more and halo less than a strong one.

    Returns:
        uint8 (h, w, 3); the same whatever the number of OpenCV's threads.

    Raises:
        ValueError: a setting is out of its range.
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
        passed = cv2.bilateralFilter(filtered, diameter, sigma_color, sigma_space)
        filtered = np.asarray(passed, np.uint8)
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
) -> ImageArray:
    """Flat colors with black outlines: a bilateral filter, and edges of its gray levels.

    Args:
        image: uint8 (h, w, 3), of any size.
        diameter, sigma_color, sigma_space, repeats: of the colors, see `bilateral`.
        median: pixels across the median of the gray levels; odd; takes specks from the outlines.
        block: pixels across the mean that a gray level is compared with; odd, at least 3; the
            outlines are up to half as wide.
        offset: how many levels below the mean a pixel must be to belong to an outline.

    Returns:
        uint8 (h, w, 3).

    Raises:
        ValueError: a setting is out of its range.
    """
    if median < 1 or median % 2 == 0 or block < 3 or block % 2 == 0:
        raise ValueError(
            f"median must be odd and at least 1, block odd and at least 3, not {median} and {block}"
        )
    colors = bilateral(
        image,
        diameter=diameter,
        sigma_color=sigma_color,
        sigma_space=sigma_space,
        repeats=repeats,
    )
    # Gray levels of the flattened image and not, as in the textbook, of the photograph: outlines
    # of texture would be new texture.
    gray = cv2.medianBlur(cv2.cvtColor(colors, cv2.COLOR_RGB2GRAY), median)
    inside = cv2.adaptiveThreshold(
        gray, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, block, offset
    )
    return np.asarray(cv2.bitwise_and(colors, colors, mask=inside), np.uint8)
