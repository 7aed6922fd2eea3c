"""Norms of objects, scenes and images: what they are compared with, and how well they rank."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from unshortcut.measuring.auroc import auroc
from unshortcut.measuring.estimates import UNKNOWN, Estimate

MANY = 6
"""Scenes of so many objects and more are one group."""
Norms = NDArray[np.floating]


@dataclass(frozen=True)
class Ranking:
    """How well the norm orders images."""

    ball: Estimate
    """By the norm of the vector that the head maps to the ball."""
    features: Estimate
    """By the norm of the encoder's features, for comparison."""


@dataclass(frozen=True)
class NormGroup:
    """Norms of the cutouts with one number of objects."""

    name: str
    count: int
    mean: Estimate
    quartiles: tuple[float, float, float]


@dataclass(frozen=True)
class ByObjects:
    """Norms of single objects, and of scenes by their number of objects."""

    groups: tuple[NormGroup, ...]
    correlation: Ranking
    """Spearman's rank correlation of the norm with the number of objects."""


@dataclass(frozen=True)
class SeveralLabels:
    """Whether the norm tells images with several labels from those with one."""

    one: int
    several: int
    auroc: Ranking


def several_labels(
    norms: Norms, lengths: Norms, labels: NDArray[np.int8] | None, seed: int = 0
) -> SeveralLabels | None:
    """How well norms (n,), and lengths (n,) of features, find images with several labels.

    labels: (n, C), 1 shown, 0 not shown, -1 unknown. Images without a label, and those with one of
    which it is not known whether there are more, do not count.
    """
    if labels is None:
        return None
    numbers = (labels == 1).sum(axis=1)
    certain = (numbers > 1) | ((numbers == 1) & (labels >= 0).all(axis=1))
    several = numbers[certain] > 1
    if several.all() or not several.any():
        return None
    scores = [one[certain] for one in (norms, lengths)]

    def estimate(values: Norms) -> Estimate:
        return Estimate.of(lambda rows: auroc(values[rows], several[rows]), len(several), seed=seed)

    ranking = Ranking(*map(estimate, scores))
    return SeveralLabels(int((~several).sum()), int(several.sum()), ranking)


def by_objects(
    norms: Norms,
    lengths: Norms,
    numbers: NDArray[np.int64],
    images: NDArray[np.int64],
    seed: int = 0,
) -> ByObjects:
    """Norms (n,) of cutouts of images (n,) by their numbers of objects (n,).

    lengths: (n,), those of their features.
    """

    def correlation(values: Norms) -> Estimate:
        def statistic(rows: NDArray[np.int64]) -> float:
            return rank_correlation(numbers[rows], values[rows])

        if np.isnan(statistic(np.arange(len(values)))):
            return UNKNOWN
        return Estimate.of_groups(statistic, images, seed=seed)

    clipped = np.minimum(numbers, MANY)
    groups = []
    for number in np.unique(clipped).tolist():
        own = norms[clipped == number].astype(np.float64)
        quartiles = np.quantile(own, [0.25, 0.5, 0.75]).tolist()
        name = "1 object" if number == 1 else f"{number} or more" if number == MANY else str(number)
        groups.append(NormGroup(name, len(own), Estimate.mean(own, seed=seed), tuple(quartiles)))
    return ByObjects(tuple(groups), Ranking(correlation(norms), correlation(lengths)))


def rank_correlation(x: NDArray[np.generic], y: NDArray[np.generic]) -> float:
    """Spearman's rank correlation of x (n,) and y (n,); NaN if all x or all y are equal.

    `scipy.stats.spearmanr` gives the same value, but computes a p-value too, which makes a
    bootstrap slow.
    """
    ranks = [stats.rankdata(one) - (len(one) + 1) / 2 for one in (x, y)]
    scatter = float(np.linalg.norm(ranks[0]) * np.linalg.norm(ranks[1]))
    return float(ranks[0] @ ranks[1]) / scatter if scatter else math.nan
