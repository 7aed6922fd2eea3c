"""How sure a model is where it is right and where it is wrong: one model's metrics, and several's.

Confidence and entropy where all models are right are those of the dissertation, table 2.12,
which does not state the base of its logarithm; here it is e.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unshortcut.measurements.confidence.calibration import (
    Bin,
    brier,
    entropy,
    expected_error,
    expected_error_by_chance,
    largest_error,
    negative_log_likelihood,
    reliability,
)
from unshortcut.measuring.estimates.estimate import Estimate
from unshortcut.measuring.subjects.classifier import Kind

SURE = 0.9
"""A decision above this confidence is called sure."""
DIGITS = 6
"""Of the values that are kept for each image."""


@dataclass(frozen=True)
class ConfidenceResult:
    """What a model said of N images, and how well it fits."""

    total: int
    """Images that could have been taken."""
    classes: int
    """K, that it decided among."""
    outputs: int
    """Classes that the classifier has in all."""
    kind: Kind
    """Of the classifier."""
    bins: tuple[Bin, ...]
    calibration_error: float
    calibration_error_by_chance: float
    """Of a model that is right as often as it says, on as many images."""
    max_calibration_error: float
    negative_log_likelihood: Estimate
    brier: Estimate
    confidence: Estimate
    confidence_right: Estimate
    confidence_wrong: Estimate
    entropy_right: Estimate
    index: tuple[int, ...]
    """(N,) positions in the data: with the next three, models can be joined by image."""
    right: tuple[bool, ...]
    confidences: tuple[float, ...]
    entropies: tuple[float, ...]

    @property
    def images(self) -> int:
        return len(self.right)

    @property
    def errors(self) -> int:
        return self.images - sum(self.right)

    @property
    def accuracy(self) -> Estimate:
        return Estimate.counted(sum(self.right), self.images)

    @property
    def sure_errors(self) -> Estimate:
        """The share of errors whose confidence is above `SURE`."""
        decisions = zip(self.confidences, self.right, strict=True)
        sure = sum(confidence > SURE and not right for confidence, right in decisions)
        return Estimate.counted(sure, self.errors)


def confidence_of(
    probabilities: NDArray[np.float64],
    labels: NDArray[np.int64],
    index: NDArray[np.int64],
    *,
    total: int,
    outputs: int,
    kind: Kind,
    seed: int = 0,
) -> ConfidenceResult:
    """From probabilities (N, K), labels (N,) and the images' positions in the data (N,)."""
    right = probabilities.argmax(axis=1) == labels
    confidence = probabilities.max(axis=1)
    uncertainty = entropy(probabilities)
    bins = reliability(confidence, right)
    return ConfidenceResult(
        total=total,
        classes=probabilities.shape[1],
        outputs=outputs,
        kind=kind,
        bins=bins,
        calibration_error=expected_error(bins),
        calibration_error_by_chance=expected_error_by_chance(confidence, seed=seed),
        max_calibration_error=largest_error(bins),
        negative_log_likelihood=Estimate.mean(
            negative_log_likelihood(probabilities, labels), seed=seed
        ),
        brier=Estimate.mean(brier(probabilities, labels), seed=seed),
        confidence=Estimate.mean(confidence, seed=seed),
        confidence_right=Estimate.mean(confidence[right], seed=seed),
        confidence_wrong=Estimate.mean(confidence[~right], seed=seed),
        entropy_right=Estimate.mean(uncertainty[right], seed=seed),
        index=tuple(index.tolist()),
        right=tuple(right.tolist()),
        confidences=tuple(confidence.round(DIGITS).tolist()),
        entropies=tuple(uncertainty.round(DIGITS).tolist()),
    )


@dataclass(frozen=True)
class Agreed:
    """Confidence and entropy of a model on images that all models get right."""

    images: int
    confidence: Estimate
    entropy: Estimate


def where_all_are_right(results: Mapping[str, ConfidenceResult]) -> dict[str, Agreed]:
    """By model: over the images that every model saw and got right (dissertation, table 2.12)."""
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
