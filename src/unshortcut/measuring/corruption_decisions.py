"""Decisions on corrupted images: every image under every corruption, or each under a few of them.

In the profile `quick` each image is seen under a few of the 75 cases, spread evenly over the
images. The means estimate the same numbers, with the interval of fewer decisions.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from unshortcut.imaging.corruptions import corrupt
from unshortcut.measuring.corruption_accuracy import CASES, NAMES, Shares
from unshortcut.measuring.settings import Limit, Settings
from unshortcut.measuring.subjects.corrupted import LEVELS
from unshortcut.measuring.subjects.images import Pixels, Prepared, Transform
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.progress import OnProgress, within
from unshortcut.randomness import generator

MAX_IMAGES = Limit(quick=150, standard=192)
"""Each image is seen 75 times, except in `quick`; three full batches in `standard`."""
QUICK_DECISIONS = 4 * len(CASES)
"""Decisions in the profile `quick`, at least: four images for each case."""

Cases = NDArray[np.int64]
"""(N, E): indices into `CASES` of the E cases under which each image is seen."""


def cases_each(num_images: int, settings: Settings) -> int:
    """Number of cases under which each image is seen."""
    if settings.profile != "quick":
        return len(CASES)
    return min(len(CASES), -(-QUICK_DECISIONS // num_images))


def assign_cases(num_images: int, each: int, seed: int) -> Cases:
    """Choose cases at random, so that all cases have the same number of images, give or take one.

    The cases of an image have different corruptions and severities as far as possible.
    """
    corruptions, levels = len(NAMES), len(LEVELS)
    at = np.arange(len(CASES))
    # 7 has no common divisor with 15: neighbors are of different groups, and all are visited.
    corruption = 7 * at % corruptions
    order = corruption * levels + (at // corruptions + at) % levels
    places = generator(seed, "cases").permutation(num_images)[:, None] * each + np.arange(each)
    return np.asarray(order[places % len(order)])


def decide_corrupted(subject: Subject, images: Prepared, on_progress: OnProgress) -> Shares:
    """Whether each image is classified correctly under each case, (15, 5, N); NaN if not seen."""
    each = cases_each(len(images), subject.settings)
    cases = assign_cases(len(images), each, subject.settings.seed)
    rows, position = np.unravel_index(np.argsort(cases, axis=None, kind="stable"), cases.shape)
    case, total = cases[rows, position], cases.size
    right = np.full((len(CASES), len(images)), np.nan)
    for part in _parts(case, together=each < len(CASES) and subject.corrupted is None):
        shown, wanted = images.take(rows[part]), images.required_labels()[rows[part]]
        progress = within(on_progress, part.start, total)
        if subject.corrupted is None:
            changes = [case_transform(images, subject.settings, one) for one in range(len(CASES))]
            transform = _by_position(changes, case[part], rows[part])
            found = subject.probabilities(shown, transform, progress)
        else:
            files = subject.corrupted.of(shown, *CASES[case[part.start]])
            found = subject.probabilities(files, None, progress)
        right[case[part], rows[part]] = found.argmax(axis=1) == wanted
    return right.reshape(len(NAMES), len(LEVELS), -1)


def case_transform(images: Prepared, settings: Settings, case: int) -> Transform:
    """A corruption at a severity, made in memory; the same for an image in every profile."""
    name, level = CASES[case]
    return images.seeded(
        (settings.seed, "corruption", name, level),
        lambda pixels, rng: corrupt(pixels, name, level, rng, settings.severities),
    )


def _parts(case: NDArray[np.int64], *, together: bool) -> list[slice]:
    """Slices of the sorted cases: one case each, or all of them if a case has few images."""
    if together:
        return [slice(0, len(case))]
    starts = [0, *(np.flatnonzero(np.diff(case)) + 1).tolist(), len(case)]
    return [slice(first, last) for first, last in pairwise(starts)]


def _by_position(
    changes: list[Transform], case: NDArray[np.int64], rows: NDArray[np.int64]
) -> Transform:
    """The transform of the case at each position, with the row of its image."""

    def transform(pixels: Pixels, at: int) -> Pixels:
        return changes[int(case[at])](pixels, int(rows[at]))

    return transform
