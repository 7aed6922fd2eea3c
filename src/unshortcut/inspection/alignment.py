"""How equal two images are after one is aligned with the other: a correlation of their pixels."""

import cv2
import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import ImageArray

SIDE = 64
"""Side of the images that are compared."""
_HOPELESS, _EQUAL = 0.5, 0.995
"""Correlations below and above which alignment cannot change the decision."""
_CRITERIA = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 30, 1e-4)
_BLUR = 1.0
"""In pixels of the images that are compared."""
_FLAT = 1.0
"""Standard deviation below which an image is a single color."""


def aligned_correlation(one: ImageArray, other: ImageArray) -> float:
    """Correlation of the pixels of two images (64, 64, 3), from -1 to 1.

    The second image is shifted, scaled, rotated and sheared onto the first one (ECC, Evangelidis
    and Psarakis 2008), as far as that is a small change, and only the common area counts.
    Brightness and contrast make no difference; two images of a single color are equal if their
    colors are.
    """
    one, other = (_smooth(image) for image in (one, other))
    plain = _correlation(one.reshape(-1, 3), other.reshape(-1, 3))
    if plain < _HOPELESS or plain > _EQUAL:
        return plain
    grays = [cv2.cvtColor(image, cv2.COLOR_RGB2GRAY) for image in (one, other)]
    warp = np.eye(2, 3, dtype=np.float32)
    try:
        _, found = cv2.findTransformECC(
            grays[0], grays[1], warp, cv2.MOTION_AFFINE, _CRITERIA, None, 5
        )
    except cv2.error:  # no convergence: the images have no common detail
        return plain
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    moved = cv2.warpAffine(other, found, (SIDE, SIDE), flags=flags)
    inside = cv2.warpAffine(np.ones((SIDE, SIDE), np.uint8), found, (SIDE, SIDE), flags=flags) > 0
    if inside.mean() < 0.5:
        return plain
    return max(plain, _correlation(one[inside], moved[inside]))


def _smooth(image: ImageArray) -> ImageArray:
    """Without the finest detail, which a smaller copy has lost."""
    return np.asarray(cv2.GaussianBlur(image, (0, 0), _BLUR), dtype=np.uint8)


def _correlation(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    """Correlation of pixels (n, 3) around the mean color of each image.

    Without the mean color, which a tint would otherwise give to all images of a class.
    """
    first, second = one.astype(np.float64), other.astype(np.float64)
    means = first.mean(axis=0), second.mean(axis=0)
    first, second = first - means[0], second - means[1]
    deviations = np.sqrt((first**2).mean()), np.sqrt((second**2).mean())
    if min(deviations) < _FLAT:
        same = np.abs(means[0] - means[1]).max() < 2 * _FLAT
        return float(max(deviations) < _FLAT and same)
    return float((first * second).mean() / np.prod(deviations))
