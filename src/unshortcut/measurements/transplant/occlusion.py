"""The region whose removal reduces the probability of the predicted class most.

Occlusion after Zeiler and Fergus (2014) needs only the decisions of a model. The replacement of a
region must not be a cue itself: a gray square has corners, and a blurred copy keeps the colors of
the region. So the region is filled from its surroundings.
"""

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from unshortcut.measurements.transplant.regions import Region
from unshortcut.measuring.subjects.images import Pixels, Prepared
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.progress import OnProgress
from unshortcut.randomness import generator

_COARSE = 32
"""Side at which fillings are computed: they are smooth, so a finer grid would not change them."""
_REACH = _COARSE / 8
"""Standard deviation of the Gaussian weights: half the side of a square."""

_AT_ONCE = 64
"""Images whose regions are filled at the same time; bounds the memory."""


def filled(pixels: Pixels, region: Region) -> Pixels:
    """The image (S, S, 3) with the region replaced by a smooth mean of its surroundings.

    The mean has Gaussian weights, with zero weight for the pixels of the region (normalized
    convolution, Knutsson and Westin 1993).
    """
    kept = (~region.mask).astype(np.float32)
    weighted = np.dstack([pixels * kept[:, :, None], kept])
    small = cv2.resize(weighted, (_COARSE, _COARSE), interpolation=cv2.INTER_AREA)
    around = cv2.GaussianBlur(small, (0, 0), _REACH, borderType=cv2.BORDER_REPLICATE)
    mean = around[:, :, :3] / np.maximum(around[:, :, 3:], np.finfo(np.float32).tiny)
    side = len(pixels)
    filling = cv2.resize(mean, (side, side), interpolation=cv2.INTER_LINEAR)
    replaced = np.where(region.mask[:, :, None], filling.round(), pixels)
    return replaced.astype(np.uint8)


def drops(
    subject: Subject,
    images: Prepared,
    decided: NDArray[np.int64],
    regions: Sequence[Region],
    on_progress: OnProgress | None = None,
) -> NDArray[np.float64]:
    """How much the probability of the predicted class falls without each region, (N, R).

    Args:
        decided: (N,) indices of the predicted classes.
    """
    count, total = len(regions), len(images) * len(regions)
    before = _against(subject.probabilities(images), decided)
    after = []
    for first in range(0, len(images), _AT_ONCE):
        rows = np.arange(first, min(first + _AT_ONCE, len(images)))
        without = subject.probabilities(
            images.take(np.repeat(rows, count)),
            lambda pixels, at: filled(pixels, regions[at % count]),
            _within(on_progress, first * count, total),
        )
        after.append(_against(without, np.repeat(decided[rows], count)).reshape(-1, count))
    return np.concatenate(after) - before[:, None]


def _within(on_progress: OnProgress | None, before: int, total: int) -> OnProgress | None:
    """Reports the progress of a part as progress of the whole."""
    if on_progress is None:
        return None
    return lambda done, _: on_progress(before + done, total)


def largest(falls: NDArray[np.float64], seed: int) -> NDArray[np.int64]:
    """The region (N,) with the largest fall (N, R); a random one among equals."""
    rows, count = falls.shape
    order = generator(seed, "occlusion").permuted(np.tile(np.arange(count), (rows, 1)), axis=1)
    first = np.take_along_axis(falls, order, axis=1).argmax(axis=1)
    return order[np.arange(rows), first]


def _against(probabilities: NDArray[np.float64], decided: NDArray[np.int64]) -> NDArray[np.float64]:
    """The probability (N,) of all other classes.

    It resolves changes of a confident decision that rounding hides in its own probability.
    """
    others = probabilities.copy()
    others[np.arange(len(others)), decided] = 0
    return others.sum(axis=1)
