"""Thresholds for copies of images, from the data set itself.

How far copies may lie apart is measured on copies that are made of its own images. How similar
images get that are no copies is measured by searching for copies among mirrored images, which have
the same statistics: about as many pairs pass by accident as pass with one of the two mirrored.
"""

import io
from dataclasses import dataclass

import cv2
import numpy as np
import PIL.Image
from numpy.typing import NDArray

from unshortcut.arrays import ImageArray
from unshortcut.data.source import BadImageError
from unshortcut.inspection.alignment import SIDE, aligned_correlation
from unshortcut.inspection.collection import Collection
from unshortcut.inspection.threads import in_threads
from unshortcut.properties.pixel_facts import SIDE as MEASURED_SIDE
from unshortcut.properties.pixel_facts import perceptual_hash
from unshortcut.randomness import generator

SAMPLE = 128
"""Number of images of which copies are made to calibrate on."""
FALSE_SHARE = 0.01
"""Share of false pairs among those found that is aimed at."""
_LEAST = 0.9
"""The threshold on pixels is never lower."""


@dataclass(frozen=True)
class Calibration:
    """Thresholds, and what they were derived from."""

    hash_distance: int
    """Bits of 64 in which the hashes of candidates may differ."""
    correlation: float
    """Least correlation of the aligned pixels of a copy."""
    recall: float
    """Share of the copies made of the data's own images that pass both thresholds."""
    mirrored: int
    """Pairs that pass both if one of the two is mirrored: about as many are false by accident."""


def threshold(
    scores: NDArray[np.float64], false: NDArray[np.float64], own: NDArray[np.float64]
) -> float:
    """The least correlation at which no more than `FALSE_SHARE` of the pairs found are false.

    It is at most the correlation that 95 % of the copies of `own` images reach, since mirrored
    copies in the data would otherwise leave nothing to be found.
    """
    highest = float(np.quantile(own, 0.05)) if len(own) else 1.0
    for least in np.sort(np.concatenate([scores, false])):
        if (false >= least).sum() <= FALSE_SHARE * (scores >= least).sum():
            return float(np.clip(least, _LEAST, max(_LEAST, highest)))
    return max(_LEAST, highest)


def altered(pixels: ImageArray) -> list[ImageArray]:
    """Copies of an image as they are found in practice: small and re-encoded, lighter, cropped."""
    height, width = pixels.shape[:2]
    small = cv2.resize(
        pixels, (max(1, width // 2), max(1, height // 2)), interpolation=cv2.INTER_AREA
    )
    file = io.BytesIO()
    PIL.Image.fromarray(small).save(file, "JPEG", quality=50)
    encoded = np.asarray(PIL.Image.open(file).convert("RGB"))
    lighter = cv2.convertScaleAbs(pixels, alpha=0.9, beta=25)
    top, left = max(1, height // 32), max(1, width // 32)
    cropped = pixels[top:-top, left:-left] if min(height, width) > 4 else pixels
    return [encoded, np.asarray(lighter, dtype=np.uint8), np.ascontiguousarray(cropped)]


def calibration_sample(collection: Collection, seed: int) -> NDArray[np.int64]:
    """The images of which copies are made."""
    random = generator("inspection", "own copies", seed)
    return np.sort(random.permutation(len(collection))[:SAMPLE])


def own_copies(
    collection: Collection, seed: int, workers: int | None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Hash distances and correlations of copies that are made of some images."""

    def compare(number: int) -> list[tuple[int, float]]:
        try:
            pixels = collection.image(number)
        except BadImageError:  # it could be read a moment ago
            return []
        whole = _resized(pixels, SIDE)
        own, _ = perceptual_hash(_gray(pixels))
        return [
            (
                (own ^ perceptual_hash(_gray(copy))[0]).bit_count(),
                aligned_correlation(whole, _resized(copy, SIDE)),
            )
            for copy in altered(pixels)
        ]

    numbers = calibration_sample(collection, seed).tolist()
    found = [one for part in in_threads(compare, numbers, workers) for one in part]
    distances = np.array([one[0] for one in found], dtype=np.int64)
    return distances, np.array([one[1] for one in found], dtype=np.float64)


def _gray(pixels: ImageArray) -> NDArray[np.uint8]:
    gray = cv2.cvtColor(_resized(pixels, MEASURED_SIDE), cv2.COLOR_RGB2GRAY)
    return np.asarray(gray, dtype=np.uint8)


def _resized(pixels: ImageArray, side: int) -> ImageArray:
    shrinks = min(pixels.shape[:2]) > side
    way = cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(pixels, (side, side), interpolation=way), dtype=np.uint8)
