"""How far a model's confidence can be believed: calibration error, likelihood, entropy.

The confidence of a decision is the probability of the class that is decided for. Logarithms are
natural: entropy is in nats.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from unshortcut.randomness import generator

BINS = 15
"""As in Guo et al. (2017), who measure ImageNet models so."""
RESAMPLES = 200

Probabilities = NDArray[np.float64]
"""(N, K), rows sum to 1."""
Labels = NDArray[np.int64]
"""(N,)."""


@dataclass(frozen=True)
class Bin:
    """Decisions whose confidence is above `low` and at most `high`."""

    low: float
    high: float
    count: int
    right: int
    confidence: float
    """Their mean; NaN where there is none."""

    @property
    def accuracy(self) -> float:
        """NaN where there is no decision."""
        return self.right / self.count if self.count else math.nan

    @property
    def gap(self) -> float:
        """Between accuracy and confidence; 0 where there is no decision."""
        return abs(self.accuracy - self.confidence) if self.count else 0.0


def reliability(
    confidence: NDArray[np.float64], right: NDArray[np.bool_], bins: int = BINS
) -> tuple[Bin, ...]:
    """Decisions (N,) by their confidence, in bins of equal width, each with its upper edge."""
    place = _places(confidence, bins)
    counts = np.bincount(place, minlength=bins)
    hits = np.bincount(place, weights=right, minlength=bins)
    sums = np.bincount(place, weights=confidence, minlength=bins)
    return tuple(
        Bin(
            at / bins,
            (at + 1) / bins,
            int(counts[at]),
            int(hits[at]),
            float(sums[at] / counts[at]) if counts[at] else math.nan,
        )
        for at in range(bins)
    )


def expected_error(bins: Sequence[Bin]) -> float:
    """Expected calibration error: the gap of a bin, averaged over decisions (Guo et al. 2017)."""
    total = sum(one.count for one in bins)
    return sum(one.count * one.gap for one in bins) / total if total else math.nan


def largest_error(bins: Sequence[Bin]) -> float:
    """Maximum calibration error: the gap of the bin that has the largest."""
    return max(one.gap for one in bins)


def expected_error_by_chance(
    confidence: NDArray[np.float64], *, bins: int = BINS, seed: int = 0
) -> float:
    """Expected calibration error that decisions (N,) show which are right as often as they say.

    It is not 0, since a bin holds few decisions; it falls as 1 / √N.
    """
    place = _places(confidence, bins)
    random = generator(seed, "calibration")
    gaps = []
    for _ in range(RESAMPLES):
        right = random.random(len(confidence)) < confidence
        # A bin's gap times its share of the decisions is |Σ (right - confidence)| / N.
        excess = np.bincount(place, weights=right - confidence, minlength=bins)
        gaps.append(np.abs(excess).sum() / len(confidence))
    return float(np.mean(gaps))


def entropy(probabilities: Probabilities) -> NDArray[np.float64]:
    """(N,) in nats: -Σ p ln p, from 0 to ln K."""
    return np.asarray(-xlogy(probabilities, probabilities).sum(axis=1) + 0.0, dtype=np.float64)


def negative_log_likelihood(probabilities: Probabilities, labels: Labels) -> NDArray[np.float64]:
    """(N,) in nats: -ln p of the label; p is at least 2.2e-16, for votes may leave nothing."""
    likelihood = probabilities[np.arange(len(labels)), labels]
    return np.asarray(-np.log(likelihood.clip(np.finfo(np.float64).eps, 1.0)), dtype=np.float64)


def brier(probabilities: Probabilities, labels: Labels) -> NDArray[np.float64]:
    """(N,) from 0 to 2: Σ (p - 1 for the label, p - 0 for the others)² (Brier 1950)."""
    truth = np.eye(probabilities.shape[1])[labels]
    return np.asarray(((probabilities - truth) ** 2).sum(axis=1), dtype=np.float64)


def _places(confidence: NDArray[np.float64], bins: int) -> NDArray[np.int64]:
    """The bin of each, its upper edge included."""
    return np.clip(np.ceil(confidence * bins) - 1, 0, bins - 1).astype(np.int64)
