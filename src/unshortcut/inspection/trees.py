"""Cross-validated shallow trees on one property, for many permutations of the labels at once.

A tree on a single property only ever asks whether its value is below a threshold. Values are first
replaced by the number of their bin, so that a table of counts by bin and class is all that a tree
needs: fitting one takes microseconds, and the result is that of scikit-learn's
`DecisionTreeClassifier(max_depth=3, min_samples_leaf=5, class_weight="balanced")` on those numbers.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit
from numpy.typing import NDArray

from unshortcut.inference.reading import available_workers
from unshortcut.progress import OnProgress

DEPTH = 3
MIN_LEAF = 5
BINS = 64
_CHUNK = 16
"""Permutations that a thread takes at a time."""


def rank_bins(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """The bin of each value (N,): one per distinct value, or `BINS` bins of about equal size."""
    distinct, numbers = np.unique(values, return_inverse=True)
    if len(distinct) <= BINS:
        return numbers.astype(np.int64)
    edges = np.unique(np.quantile(values, np.linspace(0, 1, BINS + 1)[1:-1]))
    return np.searchsorted(edges, values, side="right").astype(np.int64)


def balanced_accuracies(
    bins: NDArray[np.int64],
    labels: NDArray[np.int64],
    folds: NDArray[np.int64],
    orders: NDArray[np.int64],
    *,
    workers: int | None = None,
    on_progress: OnProgress = lambda done, total: None,
) -> NDArray[np.float64]:
    """Balanced accuracy (R, P) of held-out images for P properties and R orders of the images.

    An order assigns the properties of image `order[n]` to the label of image n. All properties of
    an image move together, and every label stays in its fold, so that folds remain stratified.

    Args:
        bins: (P, N), from `rank_bins`.
        labels: (N,), from 0 to K - 1, each of them present.
        folds: (N,), the fold in which an image is held out, from 0.
        orders: (R, N), permutations of the images; the identity gives the data as they are.
    """
    found = np.empty((len(orders), len(bins)))
    starts = range(0, len(orders), _CHUNK)
    shape = (int(folds.max()) + 1, int(bins.max(initial=0)) + 1, int(labels.max()) + 1)

    def fit(start: int) -> None:
        part = slice(start, start + _CHUNK)
        _fit_all(bins, labels, folds, orders[part], shape, found[part])

    def done() -> Iterator[None]:
        with ThreadPoolExecutor(max(1, available_workers(workers))) as pool:
            yield from pool.map(fit, starts)

    for number, _ in enumerate(done()):
        on_progress(min(len(orders), (number + 1) * _CHUNK), len(orders))
    return found


@njit(cache=True, nogil=True)
def _fit_all(bins, labels, folds, orders, shape, found):  # type: ignore[no-untyped-def]
    """Balanced accuracies of all orders and properties, into `found` (R, P)."""
    num_folds, num_bins, classes = shape
    counts = np.empty((num_folds, num_bins, classes), np.int64)
    train = np.empty((num_bins, classes), np.int64)
    total = np.zeros(classes, np.int64)
    for label in labels:
        total[label] += 1
    hits = np.empty(classes, np.int64)
    for r in range(len(orders)):
        for p in range(len(bins)):
            counts[:] = 0
            for n in range(len(labels)):
                counts[folds[n], bins[p, orders[r, n]], labels[n]] += 1
            hits[:] = 0
            for fold in range(num_folds):
                train[:] = -counts[fold]
                for other in range(num_folds):
                    train += counts[other]
                _fit(train, counts[fold], hits)
            share = 0.0
            for k in range(classes):
                share += hits[k] / total[k]
            found[r, p] = share / classes


@njit(cache=True, nogil=True)
def _fit(train, test, hits):  # type: ignore[no-untyped-def]
    """Fit a tree on counts (B, K), and add its correct decisions on `test` (B, K) to `hits`."""
    num_bins, classes = train.shape
    weights = np.zeros(classes)
    present, samples = 0, 0
    for k in range(classes):
        count = 0
        for b in range(num_bins):
            count += train[b, k]
        samples += count
        if count:
            present += 1
            weights[k] = 1.0 / count
    weights *= samples / present
    # Nodes still to be split: first bin, last bin (both included), depth.
    stack = np.empty((2 * DEPTH + 2, 3), np.int64)
    stack[0] = (0, num_bins - 1, 0)
    size = 1
    while size:
        size -= 1
        first, last, depth = stack[size]
        split, decision = _split(train, weights, first, last, depth < DEPTH)
        if split < 0:
            for b in range(first, last + 1):
                hits[decision] += test[b, decision]
        else:
            stack[size] = (split + 1, last, depth + 1)
            stack[size + 1] = (first, split, depth + 1)
            size += 2


@njit(cache=True, nogil=True)
def _split(train, weights, first, last, may_split):  # type: ignore[no-untyped-def]
    """The last bin of the left child, or -1 for a leaf, and the class that the node decides for.

    The split maximizes the weighted Gini gain; of equal ones the first is taken, and the threshold
    lies half-way to the next bin that has a sample, both as in scikit-learn.
    """
    classes = train.shape[1]
    right, left = np.zeros(classes), np.zeros(classes)
    samples, kinds = 0, 0
    for k in range(classes):
        count = 0
        for b in range(first, last + 1):
            count += train[b, k]
        samples += count
        right[k] = count * weights[k]
        kinds += count > 0
    decision = np.argmax(right)
    if not may_split or kinds < 2 or samples < 2 * MIN_LEAF:
        return -1, decision
    mass_right, mass_left = right.sum(), 0.0
    on_left, best, split = 0, -1.0, -1
    previous = -1  # the last bin with a sample so far
    for b in range(first, last + 1):
        inside = 0
        for k in range(classes):
            inside += train[b, k]
        if inside == 0:
            continue
        if previous >= 0 and MIN_LEAF <= on_left <= samples - MIN_LEAF:
            squares_left = squares_right = 0.0
            for k in range(classes):
                squares_left += left[k] * left[k]
                squares_right += right[k] * right[k]
            gain = squares_left / mass_left + squares_right / mass_right
            if gain > best:
                best, split = gain, (previous + b) // 2
        for k in range(classes):
            moved = train[b, k] * weights[k]
            left[k] += moved
            right[k] -= moved
            mass_left += moved
            mass_right -= moved
        on_left += inside
        previous = b
    return split, decision
