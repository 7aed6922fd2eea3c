"""The choice of spaces that labels warrant, from which images each representation gets right.

A subset of spaces is compared with the run's own representation by the differences, image by image,
of how often each was right. The images also trained the classifiers, so a lucky set of them favors
a representation on all of its images at once, and the differences are not independent: intervals
that ignore this call equally good spaces "better" or "worse" far too often. With the variance
counted twice they do not (a test simulates it). The margins hold for all subsets at once
(Bonferroni, 95 %).

The rule: the run's own representation, unless a subset is better by more than its margin; of those
that are, the one with the fewest spaces among those within one standard error of the most accurate.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from unshortcut.spaces.subsets import SpaceSubset

Verdict = Literal["own", "better", "worse", "not told apart"]

CONFIDENCE = 0.95
TRAINING_SHARE = 2.0
"""The variance of a difference over that of independent images."""
POWER = 0.8
"""With which the images that `Choice.images_needed` gives would tell."""


@dataclass(frozen=True)
class Candidate:
    """A representation, and what cross-validation found."""

    name: str
    spaces: SpaceSubset | None
    """None: the backbone."""
    dim: int
    hits: NDArray[np.float64]
    """(N,): the share of repeats in which each image was classified rightly."""


@dataclass(frozen=True)
class Standing:
    """How a candidate does beside the run's own representation; in percent and points."""

    candidate: Candidate
    accuracy: float
    interval: tuple[float, float]
    """Of the accuracy alone, 95 %."""
    difference: float
    margin: float
    """The difference is certain to this; 95 % for all candidates at once."""
    verdict: Verdict

    @property
    def name(self) -> str:
        return self.candidate.name


@dataclass(frozen=True)
class Choice:
    """All candidates beside the run's own representation, and the one to use."""

    own: Standing
    subsets: tuple[Standing, ...]
    chosen: Standing
    images_needed: int | None
    """About how many images would tell the most accurate subset from the run's own representation
    four times in five, if the difference is real; None where they tell, or it is not ahead."""

    @property
    def best(self) -> Standing:
        """The most accurate subset; of equals the first."""
        return max(self.subsets, key=lambda subset: subset.accuracy)

    @property
    def told(self) -> bool:
        """Whether the labels tell: a subset is better, or all are worse."""
        return self.chosen is not self.own or all(s.verdict == "worse" for s in self.subsets)


def choose(own: Candidate, subsets: Sequence[Candidate]) -> Choice:
    """Compare the subsets with the run's own representation, and choose by the rule above."""
    level = 1 - (1 - CONFIDENCE) / (2 * len(subsets))
    reach = float(stats.t.ppf(level, len(own.hits) - 1))
    standings = tuple(_compare(subset, own, reach) for subset in subsets)
    itself = _standing(own, 0.0, 0.0, "own")
    better = [standing for standing in standings if standing.verdict == "better"]
    chosen = _fewest_spaces(better) if better else itself
    needed = None
    best = max(standings, key=lambda standing: standing.accuracy)
    if not better and best.difference > 0:
        sure = (reach + float(stats.norm.ppf(POWER))) * best.margin / reach
        needed = int(np.ceil(len(own.hits) * (sure / best.difference) ** 2))
    return Choice(itself, standings, chosen, needed)


def standard_error(differences: NDArray[np.float64]) -> float:
    """Of the mean of paired differences (N,), each from -1 to 1.

    Two images that agree on average, half of one for and half against, are added to the spread
    (Agresti and Min, 2005): some few images of one mind are no certainty.
    """
    count, mean = len(differences), differences.mean()
    variance = (np.square(differences - mean).sum() + 1 + 2 * mean**2) / (count + 1)
    return float(np.sqrt(TRAINING_SHARE * variance / (count + 2)))


def wilson_interval(accuracy: float, count: int) -> tuple[float, float]:
    """Of an accuracy (0 to 1) over `count` images (Wilson's score interval)."""
    z = float(stats.norm.ppf((1 + CONFIDENCE) / 2))
    center = (accuracy + z**2 / (2 * count)) / (1 + z**2 / count)
    reach = z * np.sqrt(accuracy * (1 - accuracy) / count + z**2 / (4 * count**2))
    reach = float(reach) / (1 + z**2 / count)
    # At 0 and at 1 an end is the accuracy itself, but for rounding.
    return min(max(center - reach, 0.0), accuracy), max(min(center + reach, 1.0), accuracy)


def _compare(subset: Candidate, own: Candidate, reach: float) -> Standing:
    differences = subset.hits - own.hits
    mean, margin = float(differences.mean()), reach * standard_error(differences)
    verdict: Verdict = "not told apart"
    if abs(mean) > margin:
        verdict = "better" if mean > 0 else "worse"
    return _standing(subset, mean, margin, verdict)


def _standing(candidate: Candidate, mean: float, margin: float, verdict: Verdict) -> Standing:
    accuracy = float(candidate.hits.mean())
    low, high = wilson_interval(accuracy, len(candidate.hits))
    interval = (100 * low, 100 * high)
    return Standing(candidate, 100 * accuracy, interval, 100 * mean, 100 * margin, verdict)


def _fewest_spaces(better: Sequence[Standing]) -> Standing:
    """Of subsets that are all better: the smallest that is about as good as the best."""
    best = max(better, key=lambda standing: standing.accuracy).candidate

    def is_near(standing: Standing) -> bool:
        behind = best.hits - standing.candidate.hits
        return bool(behind.mean() <= standard_error(behind))

    return min(
        filter(is_near, better),
        key=lambda standing: (len(standing.candidate.spaces or ()), -standing.accuracy),
    )
