"""Calibration error, likelihood, Brier score and entropy of a model's probabilities.

The confidence of a decision is the probability of the predicted class. Logarithms are natural, so
entropy is in nats.

The calibration error is not torchmetrics': that puts a confidence on the edge of two bins into the
upper one, where Guo et al. (2017) put it into the lower one, and gives a confidence of exactly 1 a
bin of its own. For votes of 15 neighbors, which all lie on edges, it gave 0.1385 for 0.1410.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from unshortcut.randomness import generator

BINS = 15
"""Number of bins, as in Guo et al. (2017) for ImageNet models."""
RESAMPLES = 200

Probabilities = NDArray[np.float64]
"""(N, K), rows sum to 1."""
Labels = NDArray[np.int64]
"""(N,)."""


@dataclass(frozen=True)
class Bin:
    """The decisions whose confidence is above `low` and at most `high`."""

    low: float
    high: float
    count: int
    right: int
    confidence: float
    """Mean confidence; NaN if the bin is empty."""

    @property
    def accuracy(self) -> float:
        """NaN if the bin is empty."""
        return self.right / self.count if self.count else math.nan

    @property
    def gap(self) -> float:
        """Difference between accuracy and confidence; 0 if the bin is empty."""
        return abs(self.accuracy - self.confidence) if self.count else 0.0


def reliability(
    confidence: NDArray[np.float64], right: NDArray[np.bool_], bins: int = BINS
) -> tuple[Bin, ...]:
    """Decisions (N,) in bins of equal width by confidence, each including its upper edge."""
    index = _bin_index(confidence, bins)
    counts = np.bincount(index, minlength=bins)
    hits = np.bincount(index, weights=right, minlength=bins)
    sums = np.bincount(index, weights=confidence, minlength=bins)
    return tuple(
        Bin(
            i / bins,
            (i + 1) / bins,
            int(counts[i]),
            int(hits[i]),
            float(sums[i] / counts[i]) if counts[i] else math.nan,
        )
        for i in range(bins)
    )


def expected_error(bins: Sequence[Bin]) -> float:
    """Expected calibration error: the mean gap over all decisions (Guo et al. 2017)."""
    total = sum(one.count for one in bins)
    return sum(one.count * one.gap for one in bins) / total if total else math.nan


def largest_error(bins: Sequence[Bin]) -> float:
    """Maximum calibration error: the largest gap of a bin."""
    return max(one.gap for one in bins)


def expected_error_by_chance(
    confidence: NDArray[np.float64], *, bins: int = BINS, seed: int = 0
) -> float:
    """Expected calibration error of perfectly calibrated decisions (N,) with these confidences.

    It is not 0, because a bin contains few decisions; it decreases as 1 / √N.
    """
    index = _bin_index(confidence, bins)
    random = generator(seed, "calibration")
    gaps = []
    for _ in range(RESAMPLES):
        right = random.random(len(confidence)) < confidence
        # A bin's gap times its share of the decisions is |Σ (right - confidence)| / N.
        excess = np.bincount(index, weights=right - confidence, minlength=bins)
        gaps.append(np.abs(excess).sum() / len(confidence))
    return float(np.mean(gaps))


def entropy(probabilities: Probabilities) -> NDArray[np.float64]:
    """Entropy (N,) in nats: -Σ p ln p, from 0 to ln K."""
    return np.asarray(-xlogy(probabilities, probabilities).sum(axis=1) + 0.0, dtype=np.float64)


def negative_log_likelihood(probabilities: Probabilities, labels: Labels) -> NDArray[np.float64]:
    """-ln p of the label (N,), in nats; p is at least 2.2e-16, since votes can be 0."""
    likelihood = probabilities[np.arange(len(labels)), labels]
    return np.asarray(-np.log(likelihood.clip(np.finfo(np.float64).eps, 1.0)), dtype=np.float64)


def brier(probabilities: Probabilities, labels: Labels) -> NDArray[np.float64]:
    """Brier score (N,) from 0 to 2: Σ (p - one-hot label)² over the classes (Brier 1950)."""
    truth = np.eye(probabilities.shape[1])[labels]
    return np.asarray(((probabilities - truth) ** 2).sum(axis=1), dtype=np.float64)


def _bin_index(confidence: NDArray[np.float64], bins: int) -> NDArray[np.int64]:
    """The bin of each confidence; a bin includes its upper edge."""
    return np.clip(np.ceil(confidence * bins) - 1, 0, bins - 1).astype(np.int64)
