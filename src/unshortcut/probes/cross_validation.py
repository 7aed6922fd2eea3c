"""Cross-validation of a linear readout where labeled images are few: no test set is needed.

Every image is held out once a repeat, and classified by a penalized softmax classifier that was
fitted on the other folds. The penalty is a constant times the total variance of the features that
the classifier is fitted on, so what is held out has no say in anything. To choose the penalty anew
for each classifier, by folds within its training part, takes many times as long, and of so few
images it was no better.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unshortcut.errors import UsageError
from unshortcut.probes.matrices import FeatureMatrix, Labels, checked
from unshortcut.probes.solver import Basis, Problem, solve
from unshortcut.randomness import generator

FOLDS = 5
PENALTY = 1e-3
"""On half the squared weights, times the total variance of the features."""
TOLERANCE = 1e-4
"""Nats that a solution may lie above the minimum, about."""
MAX_PASSES = 200
HEAD_NUMBERS = 2**22
"""Weights of the classifiers that are solved side by side; the solver needs 20 times the memory."""


def stratified_folds(
    labels: NDArray[np.int64], *, repeats: int, seed: int = 0
) -> NDArray[np.int64]:
    """(R, N): the fold, 0 to k - 1, in which each image is held out, drawn anew each repeat.

    k is `FOLDS`, or N where that is less. The folds' sizes differ by one at most, overall and
    within a class; so if a class has two images or more, whoever classifies one has seen another.
    """
    folds = np.empty((repeats, len(labels)), dtype=np.int64)
    for repeat, row in enumerate(folds):
        shuffled = generator("cross-validation", seed, repeat).permutation(len(labels))
        by_class = shuffled[labels[shuffled].argsort(kind="stable")]
        row[by_class] = np.arange(len(labels)) % min(FOLDS, len(labels))
    return folds


def held_out_hits(
    features: FeatureMatrix, labels: Labels, folds: NDArray[np.int64]
) -> NDArray[np.float64]:
    """(N,): the share of repeats in which each image, while held out, was classified rightly.

    Args:
        features: (N, D).
        labels: (N,), 0 to K - 1.
        folds: (R, N), of `stratified_folds`; the same for all representations of the same images,
            so that their differences are paired.
    """
    rows, truth = checked((features, labels), "labeled")
    if folds.ndim != 2 or folds.shape[1] != len(truth):
        raise UsageError(f"folds must be (R, {len(truth)}), not {folds.shape}")
    classes = int(truth.max()) + 1
    basis = Basis.of(rows)
    coordinates = basis.coordinates(rows)
    held = torch.from_numpy(folds[:, None] == np.arange(folds.max() + 1)[:, None]).flatten(0, 1)
    hits = torch.zeros(len(truth), dtype=torch.float64, device=truth.device)
    group = max(1, HEAD_NUMBERS // (classes * len(basis.energy)))
    for part in held.to(truth.device).split(group):
        weights = _fit(coordinates, truth, basis.energy, ~part, classes)
        predictions = (coordinates @ weights.mT).argmax(2)
        hits += ((predictions == truth) & part).sum(0)
    shares: NDArray[np.float64] = (hits / len(folds)).cpu().numpy()
    return shares


def _fit(coordinates: Tensor, labels: Tensor, energy: Tensor, seen: Tensor, classes: int) -> Tensor:
    """Weights (H, K, A) of classifiers that see the rows marked in `seen` (H, N).

    The axes are those of all rows, which changes nothing: the penalty is the same in any
    directions, and the bias is free.
    """
    shares = seen / seen.sum(1, keepdim=True)
    inner = coordinates[:, :-1]
    variance = shares @ inner.square().sum(1) - (shares @ inner).square().sum(1)
    unit = torch.where(variance > 0, variance, 1.0)
    start = coordinates.new_zeros(len(seen), classes, coordinates.shape[1])
    problem = Problem(coordinates, labels, shares, PENALTY * unit, start)
    return solve(problem, energy, start, tolerance=TOLERANCE, max_passes=MAX_PASSES)
