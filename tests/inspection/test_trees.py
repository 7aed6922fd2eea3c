"""The quick trees are those of scikit-learn."""

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import balanced_accuracy_score
from sklearn.tree import DecisionTreeClassifier

from unshortcut.inspection.trees import BINS, DEPTH, MIN_LEAF, balanced_accuracies, rank_bins
from unshortcut.probes.cross_validation import stratified_folds


def by_scikit_learn(
    values: NDArray[np.int64], labels: NDArray[np.int64], folds: NDArray[np.int64]
) -> float:
    predicted = np.empty_like(labels)
    for fold in np.unique(folds):
        held = folds == fold
        tree = DecisionTreeClassifier(
            max_depth=DEPTH, min_samples_leaf=MIN_LEAF, class_weight="balanced", random_state=0
        )
        tree.fit(values[~held][:, None], labels[~held])
        predicted[held] = tree.predict(values[held][:, None])
    return float(balanced_accuracy_score(labels, predicted))


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_balanced_accuracies_equal_those_of_scikit_learn(classes: int) -> None:
    random = np.random.default_rng(classes)
    # As many of each class in every fold: no weights to round, so that ties are the same.
    labels = random.permutation(np.repeat(np.arange(classes), 40))
    n = len(labels)
    (folds,) = stratified_folds(labels, repeats=1)
    bins = np.stack(
        [
            rank_bins(random.normal(size=n)),
            rank_bins(random.normal(size=n) + 3 * labels),
            rank_bins(np.where(labels == 0, 50.0, random.integers(40, 100, n))),
            rank_bins(random.integers(0, 3, n).astype(np.float64)),
        ]
    )
    orders = np.stack([np.arange(n), random.permutation(n)])
    found = balanced_accuracies(bins, labels, folds, orders)
    expected = [[by_scikit_learn(one[order], labels, folds) for one in bins] for order in orders]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert found[0, 1] > found[1, 1] + 0.15


def test_classes_of_different_sizes_are_weighted() -> None:
    random = np.random.default_rng(0)
    labels = np.repeat([0, 1], [540, 60])
    (folds,) = stratified_folds(labels, repeats=1)
    values = rank_bins(random.normal(size=600) + 1.5 * labels)
    (found,) = balanced_accuracies(values[None], labels, folds, np.arange(600)[None])[0]
    assert found == pytest.approx(by_scikit_learn(values, labels, folds), abs=1e-12)
    assert found > 0.7


def test_bins_keep_the_order_and_are_of_about_equal_size() -> None:
    values = np.random.default_rng(0).normal(size=6400)
    bins = rank_bins(values)
    assert (np.diff(bins[np.argsort(values)]) >= 0).all()
    assert np.bincount(bins).tolist() == [100] * BINS
    assert rank_bins(np.array([3.0, 1.0, 3.0])).tolist() == [1, 0, 1]
