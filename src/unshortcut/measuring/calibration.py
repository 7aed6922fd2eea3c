"""How confident a model is when it is right and when it is wrong, and how well calibrated.

The confidence of a decision is the probability of the predicted class. Logarithms are natural, so
entropy is in nats. Confidence and entropy on the images that all models classify correctly are
those of table 2.12 of the dissertation on suppressing texture, which does not state the base of its
logarithm.

The calibration error is not torchmetrics': that puts a confidence on the edge of two bins into the
upper one, where Guo et al. (2017) put it into the lower one, and gives a confidence of exactly 1 a
bin of its own. The votes of 15 neighbors all lie on edges.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from unshortcut.measuring.estimates import Estimate
from unshortcut.measuring.subjects.classifier import ClassifierKind
from unshortcut.measuring.top5 import top5_hits
from unshortcut.randomness import generator

BINS = 15
"""Number of bins, as in Guo et al. (2017) for ImageNet models."""
RESAMPLES = 200
SURE = 0.9
"""A decision with more confidence than this counts as confident."""
DIGITS = 6
"""Decimal places of the values that are stored for each image."""

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


@dataclass(frozen=True)
class ConfidenceResult:
    """The decisions of a model on N images, and how reliable they are."""

    total: int
    """Number of images available."""
    num_classes: int
    """Number of classes K to choose from."""
    num_outputs: int
    """Number of all classes of the classifier."""
    kind: ClassifierKind
    """Kind of classifier."""
    bins: tuple[Bin, ...]
    calibration_error: float
    calibration_error_by_chance: float
    """The calibration error of a perfectly calibrated model on as many images."""
    max_calibration_error: float
    negative_log_likelihood: Estimate
    brier: Estimate
    confidence: Estimate
    confidence_right: Estimate
    confidence_wrong: Estimate
    entropy_right: Estimate
    index: tuple[int, ...]
    """Indices (N,) of the images in the data, by which models are compared on the same images."""
    right: tuple[bool, ...]
    confidences: tuple[float, ...]
    entropies: tuple[float, ...]
    top5_right: int | None = None
    """Number of images whose label is among the five likeliest classes; None for K <= 10."""

    @property
    def num_images(self) -> int:
        return len(self.right)

    @property
    def num_errors(self) -> int:
        return self.num_images - sum(self.right)

    @property
    def accuracy(self) -> Estimate:
        return Estimate.counted(sum(self.right), self.num_images)

    @property
    def top5_accuracy(self) -> Estimate | None:
        right = self.top5_right
        return None if right is None else Estimate.counted(right, self.num_images)

    @property
    def sure_errors(self) -> Estimate:
        """The share of errors whose confidence is above `SURE`."""
        decisions = zip(self.confidences, self.right, strict=True)
        sure = sum(confidence > SURE and not right for confidence, right in decisions)
        return Estimate.counted(sure, self.num_errors)


def confidence_of(
    probabilities: NDArray[np.float64],
    labels: NDArray[np.int64],
    index: NDArray[np.int64],
    *,
    total: int,
    outputs: int,
    kind: ClassifierKind,
    seed: int = 0,
) -> ConfidenceResult:
    """The result for probabilities (N, K), labels (N,) and the images' indices in the data (N,)."""

    def mean(values: NDArray[np.float64]) -> Estimate:
        return Estimate.mean(values, seed=seed)

    right = probabilities.argmax(axis=1) == labels
    confidence = probabilities.max(axis=1)
    uncertainty = entropy(probabilities)
    top5 = top5_hits(probabilities, labels)
    bins = reliability(confidence, right)
    return ConfidenceResult(
        total=total,
        num_classes=probabilities.shape[1],
        num_outputs=outputs,
        kind=kind,
        bins=bins,
        calibration_error=expected_error(bins),
        calibration_error_by_chance=expected_error_by_chance(confidence, seed=seed),
        max_calibration_error=largest_error(bins),
        negative_log_likelihood=mean(negative_log_likelihood(probabilities, labels)),
        brier=mean(brier(probabilities, labels)),
        confidence=mean(confidence),
        confidence_right=mean(confidence[right]),
        confidence_wrong=mean(confidence[~right]),
        entropy_right=mean(uncertainty[right]),
        index=tuple(index.tolist()),
        right=tuple(right.tolist()),
        confidences=tuple(confidence.round(DIGITS).tolist()),
        entropies=tuple(uncertainty.round(DIGITS).tolist()),
        top5_right=None if top5 is None else int(top5.sum()),
    )


@dataclass(frozen=True)
class Agreed:
    """Confidence and entropy of a model on the images that all models classify correctly."""

    num_images: int
    confidence: Estimate
    entropy: Estimate


def where_all_are_right(results: Mapping[str, ConfidenceResult]) -> dict[str, Agreed]:
    """Each model on the images that all models saw and classified correctly."""
    rows = {
        name: {at: row for row, at in enumerate(result.index) if result.right[row]}
        for name, result in results.items()
    }
    common = sorted(set.intersection(*(set(own) for own in rows.values())))

    def over(name: str, values: Sequence[float]) -> Estimate:
        return Estimate.mean(np.array([values[rows[name][at]] for at in common], dtype=np.float64))

    return {
        name: Agreed(len(common), over(name, result.confidences), over(name, result.entropies))
        for name, result in results.items()
    }


def reliability(
    confidence: NDArray[np.float64], right: NDArray[np.bool_], bins: int = BINS
) -> tuple[Bin, ...]:
    """Decisions (N,) in bins of equal width by confidence, each including its upper edge."""
    index = _bin_index(confidence, bins)
    counts = np.bincount(index, minlength=bins)
    hits = np.bincount(index, weights=right, minlength=bins)
    sums = np.bincount(index, weights=confidence, minlength=bins)
    means = [float(sums[i] / counts[i]) if counts[i] else math.nan for i in range(bins)]
    return tuple(
        Bin(i / bins, (i + 1) / bins, int(counts[i]), int(hits[i]), means[i]) for i in range(bins)
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
