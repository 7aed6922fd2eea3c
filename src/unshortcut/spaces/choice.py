"""Choose among the representations of a LooC run by their cross-validated accuracy.

Each subset of spaces is compared with the run's own representation by the differences, image by
image, of how often each was classified correctly. These differences are not independent: the images
are also used to train the classifiers, so a fortunate sample favors one representation on all of
its images at once. Intervals that ignore this call equally good spaces "better" or "worse" far too
often; doubling the variance prevents it (a test simulates both). The margins hold for all subsets
at once (Bonferroni correction, 95 %).

The rule is to keep the run's own representation unless a subset is better by more than its margin.
Among better subsets, the one with the fewest spaces within one standard error of the most accurate
subset is chosen.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from unshortcut.intervals import CONFIDENCE, wilson
from unshortcut.spaces.subsets import SpaceSubset

ComparisonOutcome = Literal["own", "better", "worse", "no clear difference"]

VARIANCE_FACTOR = 2.0
"""Variance of a difference, relative to that of independent images."""
POWER = 0.8
"""Probability of a conclusive result with as many images as `Choice.images_needed`."""


@dataclass(frozen=True)
class Candidate:
    """A representation and its result in cross-validation."""

    name: str
    spaces: SpaceSubset | None
    """None for the backbone."""
    dim: int
    hits: NDArray[np.float64]
    """Share of repeats in which each image was classified correctly, (N,)."""


@dataclass(frozen=True)
class Comparison:
    """A candidate compared with the run's own representation, in percent and percentage points."""

    candidate: Candidate
    accuracy: float
    interval: tuple[float, float]
    """95 % confidence interval of the accuracy."""
    difference: float
    margin: float
    """Half the width of the confidence interval of the difference; 95 % for all candidates."""
    outcome: ComparisonOutcome

    @property
    def name(self) -> str:
        return self.candidate.name


@dataclass(frozen=True)
class Choice:
    """The comparisons of all candidates, and the one to use."""

    own: Comparison
    subsets: tuple[Comparison, ...]
    chosen: Comparison
    images_needed: int | None
    """Approximate number of images that would distinguish the most accurate subset from the run's
    own representation with probability `POWER`, if the observed difference is real; None if the
    result is conclusive, or no subset is ahead."""

    @property
    def candidates(self) -> tuple[Comparison, ...]:
        """The run's own representation, followed by the subsets."""
        return (self.own, *self.subsets)

    @property
    def best(self) -> Comparison:
        """The most accurate subset; in a tie, the first."""
        return max(self.subsets, key=lambda subset: subset.accuracy)

    @property
    def conclusive(self) -> bool:
        """Whether a subset is better than the run's own representation, or all are worse."""
        return self.chosen is not self.own or all(s.outcome == "worse" for s in self.subsets)


def choose(own: Candidate, subsets: Sequence[Candidate]) -> Choice:
    """Compare the subsets with the run's own representation, and apply the rule above."""
    level = 1 - (1 - CONFIDENCE) / (2 * len(subsets))
    quantile = float(stats.t.ppf(level, len(own.hits) - 1))
    comparisons = tuple(_compare(subset, own, quantile) for subset in subsets)
    itself = _comparison(own, 0.0, 0.0, "own")
    better = [one for one in comparisons if one.outcome == "better"]
    chosen = _fewest_spaces(better) if better else itself
    needed = None
    best = max(comparisons, key=lambda one: one.accuracy)
    if not better and best.difference > 0:
        required = (quantile + float(stats.norm.ppf(POWER))) * best.margin / quantile
        needed = int(np.ceil(len(own.hits) * (required / best.difference) ** 2))
    return Choice(itself, comparisons, chosen, needed)


def standard_error(differences: NDArray[np.float64]) -> float:
    """Standard error of the mean of paired differences (N,), each from -1 to 1.

    Two images without a difference on average, half an image in favor and half against, are added
    (Agresti and Min, 2005), so that a few images that all agree do not give an error of zero.
    """
    count, mean = len(differences), differences.mean()
    variance = (np.square(differences - mean).sum() + 1 + 2 * mean**2) / (count + 1)
    return float(np.sqrt(VARIANCE_FACTOR * variance / (count + 2)))


def _compare(subset: Candidate, own: Candidate, quantile: float) -> Comparison:
    differences = subset.hits - own.hits
    mean, margin = float(differences.mean()), quantile * standard_error(differences)
    outcome: ComparisonOutcome = "no clear difference"
    if abs(mean) > margin:
        outcome = "better" if mean > 0 else "worse"
    return _comparison(subset, mean, margin, outcome)


def _comparison(
    candidate: Candidate, mean: float, margin: float, outcome: ComparisonOutcome
) -> Comparison:
    low, high = wilson(float(candidate.hits.sum()), len(candidate.hits))
    accuracy = 100 * float(candidate.hits.mean())
    return Comparison(
        candidate, accuracy, (100 * low, 100 * high), 100 * mean, 100 * margin, outcome
    )


def _fewest_spaces(better: Sequence[Comparison]) -> Comparison:
    """The smallest of the better subsets that is about as good as the best."""
    best = max(better, key=lambda one: one.accuracy).candidate

    def is_near(one: Comparison) -> bool:
        behind = best.hits - one.candidate.hits
        return bool(behind.mean() <= standard_error(behind))

    return min(
        filter(is_near, better), key=lambda one: (len(one.candidate.spaces or ()), -one.accuracy)
    )
