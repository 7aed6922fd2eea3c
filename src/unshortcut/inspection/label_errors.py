"""Labels that are probably wrong: confident learning (Northcutt et al. 2021).

A class counts as possible for an image if its probability, out of sample, is at least the mean
probability of the class over the images that carry its label. An image whose most probable such
class is not its label is a suspect.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unshortcut.intervals import wilson
from unshortcut.probes.cross_validation import held_out_probabilities, stratified_folds

MIN_PER_CLASS = 5
"""Classes with fewer images are left out."""
LEAST_KNOWLEDGE = 0.5
"""Suspects are listed from here on: halfway from always guessing the largest class to always
agreeing with the labels. With less, most suspects are errors of the probe, not of the labels."""


@dataclass(frozen=True)
class ConfidentJoint:
    """Counts of images by label and by the class that they confidently belong to."""

    counts: NDArray[np.int64]  # (K, K): row: label, column: class
    assigned: NDArray[np.int64]
    """(N,): the class that an image confidently belongs to; -1 if to none."""

    def estimated_errors(self, labels: NDArray[np.int64]) -> float:
        """Estimated number of wrong labels: counts scaled to the size of each class (eq. 3)."""
        given = np.bincount(labels, minlength=len(self.counts)).astype(np.float64)
        sums = self.counts.sum(axis=1)
        scaled = (
            self.counts * np.divide(given, sums, out=np.zeros_like(given), where=sums > 0)[:, None]
        )
        total = scaled.sum()
        return float(len(labels) * (1 - np.trace(scaled) / total)) if total else 0.0


@dataclass(frozen=True)
class LabelErrors:
    """Images whose label is probably wrong, the most certain first."""

    numbers: NDArray[np.int64]  # (M,), rows of the images that were examined
    given: NDArray[np.int64]  # (M,), labels
    suggested: NDArray[np.int64]  # (M,)
    margins: NDArray[np.float64]
    """(M,): probability of the suggested class minus that of the label."""
    estimated: float
    """Estimated number of wrong labels among all images."""
    num_images: int
    accuracy: float
    """Accuracy of the probe on held-out images, by the labels as they are."""
    chance: float
    """Accuracy of always guessing the largest class."""
    probabilities: NDArray[np.float64]  # (N, K), out of sample

    @property
    def knowledge(self) -> float:
        """What the probe knows at least: 0 at chance, 1 if it agrees with every label.

        It is computed from the lower end of Wilson's 95 % interval of the accuracy.
        """
        low, _ = wilson(self.accuracy * self.num_images, self.num_images)
        return (low - self.chance) / (1 - self.chance)


def confident_joint(
    probabilities: NDArray[np.float64], labels: NDArray[np.int64]
) -> ConfidentJoint:
    """Count images by label and confident class, from probabilities (N, K) and labels (N,).

    Equations 1 and 2 of the paper; of several possible classes the most probable one counts.
    """
    classes = probabilities.shape[1]
    own = probabilities[np.arange(len(labels)), labels]
    sums, given = np.zeros(classes), np.bincount(labels, minlength=classes)
    np.add.at(sums, labels, own)
    least = np.divide(sums, given, out=np.full(classes, np.inf), where=given > 0)
    possible = probabilities >= least - 1e-9  # a class of equal probabilities reaches its own mean
    best = np.where(possible, probabilities, -1.0).argmax(axis=1)
    assigned = np.where(possible.any(axis=1), best, -1)
    counts = np.zeros((classes, classes), np.int64)
    confident = assigned >= 0
    np.add.at(counts, (labels[confident], assigned[confident]), 1)
    return ConfidentJoint(counts, assigned)


def find_label_errors(
    features: NDArray[np.float32],
    labels: NDArray[np.int64],
    groups: Sequence[Sequence[int]] = (),
    *,
    seed: int = 0,
) -> LabelErrors:
    """Suspects among images with features (N, D) and labels (N,), each from 0 to K - 1.

    Args:
        groups: rows of images that are copies of one another. They share a fold, because an image
            would otherwise confirm the wrong label of its copy.
    """
    (folds,) = stratified_folds(labels, repeats=1, seed=seed)
    for group in groups:
        folds[list(group)] = folds[group[0]]
    probabilities = held_out_probabilities(features, labels, folds[None])
    joint = confident_joint(probabilities, labels)
    rows = np.arange(len(labels))
    own = probabilities[rows, labels]
    margin = probabilities[rows, joint.assigned] - own
    # Where the label is as probable as the class, there is nothing to correct.
    suspects = np.flatnonzero((joint.assigned >= 0) & (joint.assigned != labels) & (margin > 0))
    suspects = suspects[np.argsort(-margin[suspects], kind="stable")]
    return LabelErrors(
        suspects,
        labels[suspects],
        joint.assigned[suspects],
        margin[suspects],
        joint.estimated_errors(labels),
        len(labels),
        float((probabilities.argmax(axis=1) == labels).mean()),
        float(np.bincount(labels).max() / len(labels)),
        probabilities,
    )
