"""Logistic regression for images that may show several classes: one classifier per class.

Class c minimizes, over the images for which it is known whether they show the class,

    mean log loss / (4 r (1 - r)) + penalty * V / 2 |w|^2,

where r is the share of images that show the class and V the total variance of the features. Near
its start, at w = 0 and the bias of r, the first term then has the same curvature for every class.
A penalty therefore means the same for rare and for common classes and for features of any scale,
and one penalty can serve all classes. It is chosen by cross-validation for the best mean average
precision over classes; a choice by class would follow noise in classes with few images.

Shapes: N images, C classes, D features, A principal axes with a constant one (`solver.Basis`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from unshortcut.errors import UsageError
from unshortcut.probes.average_precision import average_precisions, mean_over_classes
from unshortcut.probes.linear import MAX_ITERATIONS, MAX_WEIGHTS, TOLERANCE
from unshortcut.probes.matrices import FeatureMatrix, checked_features
from unshortcut.probes.solver import CHUNK, Basis, solve
from unshortcut.progress import OnProgress
from unshortcut.randomness import generator

PENALTIES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
FOLDS = 3
MAX_VALUES = 2**26
"""Number of labels of classes that are solved for together."""


@dataclass(frozen=True)
class OneVsRest:
    """A linear classifier for each class."""

    weight: Tensor
    """(C, D)"""
    bias: Tensor
    """(C,)"""

    def scores(self, features: FeatureMatrix) -> Tensor:
        """Features (N, D) to scores (N, C), which are positive for classes that are shown."""
        return torch.as_tensor(features).float() @ self.weight.T + self.bias


@dataclass(frozen=True)
class LogisticResult:
    """The classifiers, and how their penalty was chosen."""

    classifiers: OneVsRest
    penalty: float
    held_out: Mapping[float, float]
    """Mean average precision (0 to 1) by penalty; empty for a single penalty."""


def fit_logistic(
    features: FeatureMatrix,
    values: NDArray[np.int8],
    *,
    penalties: Sequence[float] = PENALTIES,
    folds: int = FOLDS,
    seed: int = 0,
    on_progress: OnProgress | None = None,
) -> LogisticResult:
    """Fit a classifier per class on features (N, D) and values (N, C).

    Args:
        values: 1 shown, 0 not shown, -1 unknown, which is left out for that class.
        penalties: the candidates, tried from the strongest to the weakest; of equally good ones
            the strongest is chosen.
        folds: number of parts of the images, each of which is held out once.
        seed: random seed for the folds.
        on_progress: called with (classifiers solved, all).
    """
    rows = checked_features(features, "train")
    if values.ndim != 2 or len(values) != len(rows):
        raise UsageError(f"values must be ({len(rows)}, C), not {values.shape}")
    if not penalties or min(penalties) <= 0:
        raise UsageError(f"penalties must be above 0, not {list(penalties)}")
    basis = Basis.of(rows)
    fitter = _Fitter(basis, basis.coordinates(rows))
    truth = torch.from_numpy(np.ascontiguousarray(values.T)).to(rows.device)  # (C, N)
    path = sorted(penalties, reverse=True)
    steps = folds * len(path) if len(path) > 1 else 0
    held_out: dict[float, float] = {}
    if steps:
        held = torch.from_numpy(stratified_by_class(values, folds, seed).T).to(rows.device)
        found = np.zeros((len(path), folds, len(truth)))
        for fold in range(folds):
            seen = torch.where(held == fold, -1, truth)
            tested = torch.where(held == fold, truth, -1)
            for number, weights in enumerate(fitter.along(seen, path)):
                found[number, fold] = average_precisions(fitter.scores(weights), tested.T).area
                if on_progress is not None:
                    on_progress(fold * len(path) + number + 1, steps + 1)
        held_out = {penalty: _mean(one) for penalty, one in zip(path, found, strict=True)}
    best = max(path, key=lambda penalty: held_out.get(penalty, 0.0))
    (weights,) = fitter.along(truth, [best])
    if on_progress is not None:
        on_progress(steps + 1, steps + 1)
    return LogisticResult(OneVsRest(*basis.to_features(weights)), best, held_out)


def stratified_by_class(values: NDArray[np.int8], folds: int, seed: int) -> NDArray[np.int64]:
    """The fold, 0 to folds - 1, in which each image is held out for each class, (N, C).

    For every class, the numbers of images in the folds that show it differ by at most one, as do
    those of images that do not.
    """
    shuffled = generator("one-vs-rest folds", seed).permutation(len(values))
    order = shuffled[np.argsort(-values[shuffled], axis=0, kind="stable")]  # (N, C)
    turns = np.broadcast_to((np.arange(len(values)) % folds)[:, None], values.shape)
    assigned = np.empty(values.shape, dtype=np.int64)
    np.put_along_axis(assigned, order, turns, axis=0)
    return assigned


def _mean(precision: NDArray[np.float64]) -> float:
    """Mean over classes of the mean over folds, of (folds, C); 0 if no fold shows a class."""
    known = ~np.isnan(precision)
    classes = known.any(0)
    if not classes.any():
        return 0.0
    sums = np.where(known, precision, 0.0)[:, classes].sum(0)
    return mean_over_classes(sums / known[:, classes].sum(0))


@dataclass(frozen=True)
class _Problem:
    """The objectives of C classifiers (see `solver.Objective`), each with weights (1, A)."""

    coordinates: Tensor
    """(N, A)"""
    shown: Tensor
    """(C, N) bool"""
    shares: Tensor
    """Weights of the images of each class, (C, N)."""
    penalty: Tensor
    """(C,)"""

    def evaluate(self, weights: Tensor) -> tuple[Tensor, Tensor]:
        flat = weights[:, 0]
        gradient = flat * self.penalty[:, None]
        gradient[:, -1] = 0
        value = 0.5 * (gradient * flat).sum(1)
        rows = max(1, CHUNK // len(flat))
        for first in range(0, len(self.coordinates), rows):
            part = slice(first, first + rows)
            x, shown, share = self.coordinates[part], self.shown[:, part], self.shares[:, part]
            logits = flat @ x.T  # (C, n)
            value += (F.softplus(torch.where(shown, -logits, logits)) * share).sum(1)
            gradient.addmm_((logits.sigmoid_() - shown.float()) * share, x)
        return value, gradient[:, None]

    def diagonal(self, energy: Tensor) -> Tensor:
        ridge = self.penalty[:, None].repeat(1, len(energy))
        ridge[:, -1] = 0
        return (energy / 4 + ridge)[:, None]


@dataclass(frozen=True)
class _Fitter:
    """Fits classifiers on one set of features."""

    basis: Basis
    coordinates: Tensor

    def scores(self, weights: Tensor) -> Tensor:
        """Scores (N, C) of weights (C, A) for all training images."""
        return self.coordinates @ weights.T

    def along(self, values: Tensor, penalties: Sequence[float]) -> list[Tensor]:
        """Weights (C, A) for each penalty, each from the solution of the one before."""
        axes = len(self.basis.energy)
        group = max(1, min(MAX_WEIGHTS // axes, MAX_VALUES // values.shape[1]))
        parts = [self._path(some, penalties) for some in values.split(group)]
        return [torch.cat(weights) for weights in zip(*parts, strict=True)]

    def _path(self, values: Tensor, penalties: Sequence[float]) -> list[Tensor]:
        known = values >= 0
        counts = known.sum(1).clamp(min=1)
        # A class that all images show, or none, has no optimal bias.
        least = 0.5 / counts
        rates = ((values == 1).sum(1) / counts).clamp(least, 1 - least)
        shares = known / (4 * rates * (1 - rates) * counts)[:, None]
        variance = float(self.basis.energy[:-1].sum()) or 1.0
        weights = shares.new_zeros(len(values), 1, len(self.basis.energy))
        weights[:, 0, -1] = rates.logit()
        found = []
        for penalty in penalties:
            ridge = shares.new_full((len(values),), penalty * variance)
            problem = _Problem(self.coordinates, values == 1, shares, ridge)
            weights = solve(
                problem,
                self.basis.energy,
                weights,
                tolerance=TOLERANCE,
                max_iterations=MAX_ITERATIONS,
            )
            found.append(weights[:, 0])
        return found
