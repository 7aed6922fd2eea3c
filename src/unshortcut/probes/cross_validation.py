"""Cross-validation of a linear classifier on a few labeled images, without a test set.

In every repeat each image is held out once and classified by a penalized softmax classifier that
was fitted on the other folds. The penalty is a constant times the total variance of the training
folds, so it does not depend on held-out images. Nested cross-validation, which chooses the penalty
for each classifier, takes many times as long and was no better on so few images.
"""

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unshortcut.errors import UsageError
from unshortcut.probes.linear import MAX_ITERATIONS, TOLERANCE
from unshortcut.probes.matrices import FeatureMatrix, Labels, checked
from unshortcut.probes.solver import Basis, Problem, solve
from unshortcut.randomness import generator

FOLDS = 5
PENALTY = 1e-3
"""Weight of half the squared weights, to be multiplied by the total variance of the features."""
MAX_WEIGHTS = 2**22
"""Number of weights to solve for at once; the solver needs about 20 times their memory."""


def stratified_folds(
    labels: NDArray[np.int64], *, repeats: int, seed: int = 0
) -> NDArray[np.int64]:
    """Sample the fold, 0 to k - 1, in which each image is held out, (R, N), for every repeat.

    k is the smaller of `FOLDS` and N. Fold sizes differ by at most one, overall and within each
    class, so a class with two or more images is always represented in the training folds.
    scikit-learn's `StratifiedKFold` refuses classes that all have fewer images than there are
    folds, which is a usual case here.
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
    """Share of repeats in which each image was classified correctly while held out, (N,).

    Args:
        features: (N, D).
        labels: (N,), from 0 to K - 1.
        folds: (R, N), from `stratified_folds`. Use the same folds for all representations of the
            same images, so that their differences are paired.
    """
    hits: Tensor | None = None
    for truth, held, logits in _held_out(features, labels, folds):
        found = ((logits.argmax(2) == truth) & held).sum(0).double()
        hits = found if hits is None else hits + found
    assert hits is not None
    shares: NDArray[np.float64] = (hits / len(folds)).cpu().numpy()
    return shares


def held_out_probabilities(
    features: FeatureMatrix, labels: Labels, folds: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Probabilities (N, K) of the classes of each image while held out; the mean over repeats.

    Arguments as in `held_out_hits`.
    """
    total: Tensor | None = None
    for _, held, logits in _held_out(features, labels, folds):
        found = (logits.double().softmax(2) * held[:, :, None]).sum(0)
        total = found if total is None else total + found
    assert total is not None
    means: NDArray[np.float64] = (total / len(folds)).cpu().numpy()
    return means


def _held_out(
    features: FeatureMatrix, labels: Labels, folds: NDArray[np.int64]
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Labels (N,), held-out images (H, N) and logits (H, N, K) of some classifiers at a time."""
    rows, truth = checked((features, labels), "labeled")
    if folds.ndim != 2 or folds.shape[1] != len(truth):
        raise UsageError(f"folds must be (R, {len(truth)}), not {folds.shape}")
    classes = int(truth.max()) + 1
    basis = Basis.of(rows)
    coordinates = basis.coordinates(rows)
    held = torch.from_numpy(folds[:, None] == np.arange(folds.max() + 1)[:, None]).flatten(0, 1)
    group = max(1, MAX_WEIGHTS // (classes * len(basis.energy)))
    for part in held.to(truth.device).split(group):
        weights = _fit(coordinates, truth, basis.energy, ~part, classes)
        yield truth, part, coordinates @ weights.mT


def _fit(coordinates: Tensor, labels: Tensor, energy: Tensor, seen: Tensor, classes: int) -> Tensor:
    """Weights (H, K, A) of classifiers that are fitted on the samples marked in `seen` (H, N).

    The principal axes are those of all samples. This does not leak held-out samples, because the
    penalty is the same in any rotated basis and the bias is not penalized.
    """
    shares = seen / seen.sum(1, keepdim=True)
    inner = coordinates[:, :-1]
    variance = shares @ inner.square().sum(1) - (shares @ inner).square().sum(1)
    unit = torch.where(variance > 0, variance, 1.0)
    start = coordinates.new_zeros(len(seen), classes, coordinates.shape[1])
    problem = Problem(coordinates, labels, shares, PENALTY * unit, start)
    return solve(problem, energy, start, tolerance=TOLERANCE, max_iterations=MAX_ITERATIONS)
