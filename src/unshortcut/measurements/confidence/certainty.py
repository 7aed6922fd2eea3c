"""How confident a model is when it is right and when it is wrong.

Confidence and entropy on the images that all models classify correctly are those of table 2.12 of
the dissertation on suppressing texture. It does not state the base of its logarithm; here it is e.
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
from unshortcut.measuring.estimates import Estimate
from unshortcut.measuring.subjects.classifier import ClassifierKind

SURE = 0.9
"""A decision with more confidence than this counts as confident."""
DIGITS = 6
"""Decimal places of the values that are stored for each image."""


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
    right = probabilities.argmax(axis=1) == labels
    confidence = probabilities.max(axis=1)
    uncertainty = entropy(probabilities)
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
    """Confidence and entropy of a model on the images that all models classify correctly."""

    num_images: int
    confidence: Estimate
    entropy: Estimate


def where_all_are_right(results: Mapping[str, ConfidenceResult]) -> dict[str, Agreed]:
    """Each model on the images that all models saw and classified correctly (see above)."""
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
