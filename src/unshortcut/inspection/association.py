"""How well each property alone tells the class of an image, compared with permuted labels."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from unshortcut.inspection.trees import balanced_accuracies, rank_bins
from unshortcut.measuring.subjects.images import stratified
from unshortcut.probes.cross_validation import FOLDS, stratified_folds
from unshortcut.progress import OnProgress
from unshortcut.properties.columns import Column, Kind, Property
from unshortcut.randomness import generator

MAX_IMAGES = 2000
"""Maximum number of images for the trees and the permutations."""
PERMUTATIONS = 999
SIGNIFICANT = 0.01
"""Level of the test over all properties together."""
MIN_PER_CLASS = 2 * FOLDS
"""Classes with fewer images are left out, as trees cannot tell them."""
_WANTED_PER_CLASS = 20
"""With more classes than `MAX_IMAGES` allows so many images of, a random choice of classes."""


@dataclass(frozen=True)
class Association:
    """What one property tells of the class."""

    about: Property
    accuracy: float
    """Balanced accuracy of a shallow tree on this property alone, cross-validated."""
    chance: float
    p_value: float
    """Share of permutations in which the best of all properties is at least as accurate."""
    aucs: NDArray[np.float64]
    """(K,): AUC of the property for each class against the rest; NaN for a class without images.
    Below 0.5, the class has lower values. For categories: that of the most telling one."""
    typical: tuple[str, ...]
    """Per class: the median, or the most frequent category and its share."""

    @property
    def strength(self) -> float:
        """0 at chance, 1 if the property tells every class."""
        return max(0.0, (self.accuracy - self.chance) / (1 - self.chance))

    @property
    def significant(self) -> bool:
        return self.p_value <= SIGNIFICANT

    @property
    def alarm(self) -> bool:
        """Whether the class is told by what the content of an image cannot explain."""
        return self.significant and self.about.kind == "file"

    @property
    def strongest(self) -> int:
        """The class whose AUC is farthest from one half."""
        return int(np.nanargmax(np.abs(self.aucs - 0.5)))


@dataclass(frozen=True)
class Associations:
    """What all properties tell of the class, most telling first."""

    classes: tuple[str, ...]
    found: tuple[Association, ...]
    constant: tuple[Column, ...]
    """Properties with the same value in all images, which tell nothing."""
    null: float
    """Balanced accuracy that the best of all properties passes in 1 % of the permutations."""
    num_images: int
    """Number of images in the trees."""
    num_classes: int
    """Number of classes in the trees; the others have too few images or are too many."""

    def of(self, kind: Kind) -> tuple[Association, ...]:
        return tuple(one for one in self.found if one.about.kind == kind)

    @property
    def alarms(self) -> tuple[Association, ...]:
        return tuple(one for one in self.found if one.alarm)


def associate(
    columns: Mapping[str, Column],
    labels: NDArray[np.int64],
    classes: tuple[str, ...],
    *,
    seed: int = 0,
    permutations: int = PERMUTATIONS,
    workers: int | None = None,
    on_progress: OnProgress = lambda done, total: None,
) -> Associations | str:
    """Test every property that varies; a reason if there are too few images for that.

    All properties are tested with one set of permutations. The p-value of each refers to the
    maximum over all properties, so that with no relation at all, one of them is significant in 1 %
    of the data sets, however many properties there are.
    """
    rows = _sample(labels, seed)
    kept = np.unique(labels[rows])
    if len(kept) < 2:
        return (
            f"fewer than two classes have at least {MIN_PER_CLASS} images, too few to test what "
            "tells them apart"
        )
    varying = [one for one in columns.values() if not one.constant]
    constant = tuple(one for one in columns.values() if one.constant)
    own = np.searchsorted(kept, labels[rows])
    chance = 1 / len(kept)
    if not varying:
        return Associations(classes, (), constant, chance, len(rows), len(kept))
    random = generator("inspection", "permutations", seed)
    orders = np.stack(
        [np.arange(len(rows)), *(random.permutation(len(rows)) for _ in range(permutations))]
    )
    bins = np.stack([rank_bins(one.values[rows]) for one in varying])
    (folds,) = stratified_folds(own, repeats=1, seed=seed)
    scores = balanced_accuracies(bins, own, folds, orders, workers=workers, on_progress=on_progress)
    best = scores[1:].max(axis=1)
    found = [
        Association(
            column.about,
            float(score),
            chance,
            (1 + int((best >= score).sum())) / (1 + permutations),
            class_aucs(column, labels, len(classes)),
            tuple(_typical(column, labels == k) for k in range(len(classes))),
        )
        for column, score in zip(varying, scores[0], strict=True)
    ]
    found.sort(key=lambda one: -one.accuracy)
    null = float(np.quantile(best, 1 - SIGNIFICANT))
    return Associations(classes, tuple(found), constant, null, len(rows), len(kept))


def class_aucs(column: Column, labels: NDArray[np.int64], classes: int) -> NDArray[np.float64]:
    """AUC (K,) of each class against the rest: Mann-Whitney's statistic, with ties counted half.

    For categories: that of having the category in which the class differs most from the rest.
    """
    count = np.bincount(labels[labels >= 0], minlength=classes).astype(np.float64)
    others = len(labels) - count
    with np.errstate(invalid="ignore", divide="ignore"):
        if not column.about.categories:
            ranks = stats.rankdata(column.values)
            sums = np.array([ranks[labels == k].sum() for k in range(classes)])
            aucs: NDArray[np.float64] = (sums - count * (count + 1) / 2) / (count * others)
            return aucs
        _, category = np.unique(column.values, return_inverse=True)
        table = np.zeros((classes, category.max() + 1))
        np.add.at(table, (labels[labels >= 0], category[labels >= 0]), 1)
        total = np.bincount(category)
        gap = table / count[:, None] - (total - table) / others[:, None]
        chosen = np.abs(np.nan_to_num(gap)).argmax(axis=1)
        picked: NDArray[np.float64] = (1 + gap[np.arange(classes), chosen]) / 2
        return picked


def _sample(labels: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Images for the trees: at most `MAX_IMAGES`, of classes with enough of them."""
    count = np.bincount(labels[labels >= 0])
    large = np.flatnonzero(count >= MIN_PER_CLASS)
    most = MAX_IMAGES // _WANTED_PER_CLASS
    if len(large) > most:
        large = generator("inspection", "classes", seed).choice(large, most, replace=False)
    rows = np.flatnonzero(np.isin(labels, large))
    if len(rows) <= MAX_IMAGES:
        return rows
    return rows[stratified(labels[rows], MAX_IMAGES, seed)]


def _typical(column: Column, members: NDArray[np.bool_]) -> str:
    if not members.any():
        return "–"
    values = column.values[members]
    special = np.isin(values, list(column.names))
    if column.about.categories or special.mean() > 0.5:
        found, counts = np.unique(values, return_counts=True)
        share = counts.max() / len(values)
        name = column.text(float(found[counts.argmax()]))
        return name if share == 1 else f"{name} ({math.floor(100 * share)} %)"
    return column.text(float(np.median(values)))
