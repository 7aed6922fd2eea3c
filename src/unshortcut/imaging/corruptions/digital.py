"""Digital corruptions: low contrast, elastic distortion, pixelation and JPEG compression."""

import io
from typing import NamedTuple

import cv2
import numpy as np
import PIL.Image
from numpy.typing import NDArray

from unshortcut.arrays import ImageArray
from unshortcut.imaging.corruptions._resample import displaced, gaussian
from unshortcut.imaging.corruptions.corruption import levels
from unshortcut.imaging.corruptions.severities import Parameters
from unshortcut.randomness import Rng


def contrast(image: ImageArray, parameters: Parameters, sampled: None) -> ImageArray:
    """Move each channel toward its mean over the image."""
    (share,) = parameters
    # All but the mean is computed on a table of the 256 levels.
    scale = np.arange(256)[:, None] / 255.0
    means = np.mean(np.take(scale[:, 0], image), axis=(0, 1))
    table = levels((scale - means) * share + means)
    return np.asarray(cv2.LUT(image, table[None]), np.uint8)


class ElasticSample(NamedTuple):
    """Sampled parameters of an elastic transform, all from -1 to 1."""

    corners: NDArray[np.float64]
    """(3, 2): how far three points of the affine part move to the right and down."""
    across: NDArray[np.float64]
    """(h, w): noise, which is blurred to give the displacement to the right."""
    down: NDArray[np.float64]
    """(h, w): noise, which is blurred to give the displacement downwards."""


def sample_elastic_transform(
    rng: Rng, height: int, width: int, parameters: Parameters
) -> ElasticSample:
    """Sample the points, then the two noise fields."""
    return ElasticSample(
        rng.uniform(-1, 1, (3, 2)),
        rng.uniform(-1, 1, (height, width)),
        rng.uniform(-1, 1, (height, width)),
    )


def elastic_transform(
    image: ImageArray, parameters: Parameters, sampled: ElasticSample
) -> ImageArray:
    """Apply a random affine map, then displace each pixel by blurred noise.

    All lengths are proportional to the shorter side. This is the definition of ImageNet-C and
    CIFAR-10-C; the package `imagecorruptions` has another one, without the affine part.
    """
    height, width = image.shape[:2]
    amount, sigma, reach = (min(height, width) * number for number in parameters)
    middle = np.array([width // 2, height // 2], np.float32)
    third = min(height, width) // 3
    points = middle + third * np.array([[1, 1], [1, -1], [-1, -1]], np.float32)
    moved = points + (reach * sampled.corners).astype(np.float32)
    warped = cv2.warpAffine(
        image.astype(np.float32) / 255.0,
        cv2.getAffineTransform(points, moved),
        (width, height),
        borderMode=cv2.BORDER_REFLECT_101,
    )
    noise = gaussian(np.stack([sampled.down, sampled.across], axis=2), sigma, 3, "symmetric")
    shift = (noise * amount).astype(np.float32)
    return levels(displaced(warped, shift[..., 0], shift[..., 1]))


def pixelate(image: ImageArray, parameters: Parameters, sampled: None) -> ImageArray:
    """Reduce by averaging over boxes, and enlarge by repeating pixels."""
    (share,) = parameters
    height, width = image.shape[:2]
    small = PIL.Image.fromarray(image).resize(
        (int(width * share), int(height * share)), PIL.Image.Resampling.BOX
    )
    return np.array(small.resize((width, height), PIL.Image.Resampling.NEAREST))


def jpeg_compression(image: ImageArray, parameters: Parameters, sampled: None) -> ImageArray:
    """Encode as JPEG with the given quality, and decode."""
    (quality,) = parameters
    file = io.BytesIO()
    PIL.Image.fromarray(image).save(file, "JPEG", quality=int(quality))
    return np.array(PIL.Image.open(file))
