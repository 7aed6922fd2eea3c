"""Copies of images within a data set and between its splits, also resized, re-encoded or cropped.

Candidates are pairs with near perceptual hashes or, with a model, near features; they are confirmed
by their aligned pixels. Both thresholds come from the data set itself (`copy_calibration.py`).
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import ImageArray
from unshortcut.data.source import BadImageError
from unshortcut.inspection.alignment import SIDE, aligned_correlation
from unshortcut.inspection.collection import Collection
from unshortcut.inspection.copy_calibration import Calibration, own_copies, threshold
from unshortcut.inspection.hash_pairs import Pairs, distance_counts, near_pairs
from unshortcut.inspection.threads import in_threads
from unshortcut.progress import OnProgress

MAX_PAIRS = 2500
"""Maximum number of candidates whose pixels are compared; in large sets, a quarter of the images.
It decides how far apart the hashes of candidates may be."""
_HASH_LIMIT = 16
"""Bits in which the hashes of candidates differ at most, in small sets."""


@dataclass(frozen=True)
class NearCopies:
    """Pairs of copies, and the groups that they form."""

    pairs: Pairs  # (M, 2), numbers in the collection
    correlations: NDArray[np.float64]  # (M,)
    groups: tuple[tuple[int, ...], ...]  # the largest first
    calibration: Calibration

    def in_split(self, collection: Collection, first: str, second: str) -> Pairs:
        """The pairs of an image of one split and an image of another, or of the same."""
        wanted = sorted((collection.names.index(first), collection.names.index(second)))
        found = np.sort(collection.split_numbers[self.pairs], axis=1)
        return self.pairs[(found == wanted).all(axis=1)]

    def with_copy_in(self, collection: Collection, split: str, other: str) -> NDArray[np.int64]:
        """Numbers of the images of a split that have a copy in another."""
        pairs = self.in_split(collection, split, other)
        which = collection.split_numbers[pairs] == collection.names.index(split)
        return np.unique(pairs[which])

    def conflicting(self, collection: Collection) -> Pairs:
        """Pairs of copies with different labels."""
        labels = collection.labels[self.pairs]
        return self.pairs[(labels >= 0).all(axis=1) & (labels[:, 0] != labels[:, 1])]


def find_copies(
    collection: Collection,
    *,
    more: Pairs | None = None,
    seed: int = 0,
    workers: int | None = None,
    on_progress: OnProgress = lambda done, total: None,
) -> NearCopies:
    """Search all pairs of images for copies.

    Args:
        more: further candidates to confirm, e.g. those with near features.
    """
    hashes, mirrored = collection.hashes, collection.mirrored
    distances, own = own_copies(collection, seed, workers)
    counts = distance_counts(hashes, hashes, workers=workers, on_progress=on_progress).cumsum()
    counts = np.maximum(counts, distance_counts(hashes, mirrored, workers=workers).cumsum())
    limit = max(MAX_PAIRS, len(collection) // 4)
    # At least exact copies are compared, of which a set may have any number.
    most = int(np.flatnonzero(counts[: _HASH_LIMIT + 1] <= limit).max(initial=0))
    pairs, bits = near_pairs(hashes, hashes, most, workers=workers)
    if len(pairs) > limit:
        warnings.warn(
            f"{len(pairs)} pairs of images have equal hashes, of which {limit} were compared; the "
            "list of copies is not complete",
            stacklevel=2,
        )
    pairs = pairs[np.argsort(bits, kind="stable")[:limit]]
    if more is not None and len(more):
        pairs = np.unique(np.concatenate([pairs, np.sort(more, axis=1)]), axis=0)
    decoys, bits = near_pairs(hashes, mirrored, most, workers=workers)
    decoys = decoys[np.argsort(bits, kind="stable")[:limit]]
    scores = pair_correlations(collection, pairs, workers=workers, on_progress=on_progress)
    false = pair_correlations(collection, decoys, flipped=True, workers=workers)
    least = threshold(scores, false, own)
    kept = scores >= least
    passed = (distances <= most) & (own >= least)
    calibration = Calibration(
        most, least, float(passed.mean()) if len(own) else 0.0, int((false >= least).sum())
    )
    order = np.lexsort((pairs[kept][:, 1], pairs[kept][:, 0], -scores[kept]))
    found = pairs[kept][order]
    return NearCopies(found, scores[kept][order], groups_of(found), calibration)


def pair_correlations(
    collection: Collection,
    pairs: Pairs,
    *,
    flipped: bool = False,
    workers: int | None = None,
    on_progress: OnProgress = lambda done, total: None,
) -> NDArray[np.float64]:
    """Correlation of the aligned pixels of each pair (M,); `flipped` mirrors the second image."""
    numbers = np.unique(pairs)
    images = dict(zip(numbers.tolist(), _decoded(collection, numbers, workers), strict=True))

    def compare(pair: Sequence[int]) -> float:
        one, other = images[pair[0]], images[pair[1]]
        if one is None or other is None:
            return 0.0
        return aligned_correlation(one, other[:, ::-1].copy() if flipped else other)

    found = np.zeros(len(pairs))
    for row, score in enumerate(in_threads(compare, pairs.tolist(), workers)):
        found[row] = score
        on_progress(row + 1, len(pairs))
    return found


def groups_of(pairs: Pairs) -> tuple[tuple[int, ...], ...]:
    """Images that are connected by pairs, each group sorted, the largest first."""
    parent: dict[int, int] = {}

    def root(number: int) -> int:
        while parent.setdefault(number, number) != number:
            number = parent[number]
        return number

    for one, other in pairs.tolist():
        first, second = sorted((root(one), root(other)))
        parent[second] = first
    members: dict[int, list[int]] = {}
    for number in sorted(parent):
        members.setdefault(root(number), []).append(number)
    return tuple(sorted((tuple(one) for one in members.values()), key=lambda one: -len(one)))


def _decoded(
    collection: Collection, numbers: NDArray[np.int64], workers: int | None
) -> list[ImageArray | None]:
    def read(number: int) -> ImageArray | None:
        try:
            return collection.pixels(number, SIDE)
        except BadImageError:
            return None

    return in_threads(read, numbers.tolist(), workers)
