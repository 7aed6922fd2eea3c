"""Cross-validation: fair folds, and what scikit-learn finds on each training part alone."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from unshortcut.errors import UsageError
from unshortcut.probes import cross_validation
from unshortcut.probes.cross_validation import PENALTY, held_out_hits, stratified_folds

Floats = NDArray[np.float32]


def blobs(
    count: int, classes: int = 3, dim: int = 10, signal: float = 0.7, seed: int = 0
) -> tuple[Floats, NDArray[np.int64]]:
    """Gaussian classes; `signal` 0 makes labels that features say nothing of."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(count) % classes)
    centers = signal * rng.standard_normal((classes, dim))
    features = centers[labels] + rng.standard_normal((count, dim))
    return features.astype(np.float32), labels


def test_every_image_is_held_out_once_a_repeat_and_classes_are_spread_evenly() -> None:
    labels = np.repeat([0, 1, 2, 3], [23, 9, 3, 2])
    folds = stratified_folds(labels, repeats=4, seed=1)
    assert folds.shape == (4, 37)
    for row in folds:
        sizes = np.bincount(row, minlength=5)
        assert sizes.max() - sizes.min() <= 1 and len(sizes) == 5
        for label in range(4):
            within = np.bincount(row[labels == label], minlength=5)
            assert within.max() - within.min() <= 1
    assert len({row.tobytes() for row in folds}) == 4
    np.testing.assert_array_equal(folds, stratified_folds(labels, repeats=4, seed=1))
    assert (folds != stratified_folds(labels, repeats=4, seed=2)).any()


def test_folds_have_the_class_counts_of_scikit_learns() -> None:
    labels = np.random.default_rng(0).permutation(np.repeat([0, 1, 2], [23, 9, 6]))
    (folds,) = stratified_folds(labels, repeats=1)
    splits = StratifiedKFold(5, shuffle=True, random_state=0).split(labels, labels)
    theirs = np.array([np.bincount(labels[held], minlength=3) for _, held in splits])
    ours = np.array([np.bincount(labels[folds == fold], minlength=3) for fold in range(5)])
    np.testing.assert_array_equal(np.sort(ours, axis=0), np.sort(theirs, axis=0))
    assert sorted(ours.sum(1)) == sorted(theirs.sum(1))


def test_four_images_which_scikit_learn_refuses_are_left_out_one_by_one() -> None:
    labels = np.array([0, 0, 1, 1])
    folds = stratified_folds(labels, repeats=2)
    assert all(sorted(row) == [0, 1, 2, 3] for row in folds)
    with pytest.raises(ValueError, match="cannot be greater than the number of members"):
        next(StratifiedKFold(4).split(labels, labels))


@pytest.mark.parametrize(("count", "dim", "signal"), [(90, 10, 0.35), (40, 150, 0.15)])
def test_hits_are_those_of_scikit_learn_on_the_training_part_alone(
    count: int, dim: int, signal: float
) -> None:
    features, labels = blobs(count, dim=dim, signal=signal)
    folds = stratified_folds(labels, repeats=2)
    expected = np.zeros(count)
    for row in folds:
        for fold in range(5):
            seen = row != fold
            variance = features[seen].astype(np.float64).var(axis=0).sum()
            strength = 1 / (PENALTY * variance * seen.sum())
            model = LogisticRegression(C=strength, tol=1e-8, max_iter=5000)
            model.fit(features[seen].astype(np.float64), labels[seen])
            expected[~seen] += model.predict(features[~seen]) == labels[~seen]
    found = held_out_hits(features, labels, folds)
    assert set(found) <= {0, 0.5, 1} and 0.4 < found.mean() < 0.95
    # An image on the border of two classes may fall to either side.
    assert (found != expected / 2).mean() <= 0.03


def test_labels_that_features_do_not_know_are_guessed() -> None:
    """Far more dimensions than images: who had seen the held-out image would be always right."""
    scores = []
    for seed in range(8):
        features, labels = blobs(40, classes=2, dim=300, signal=0, seed=seed)
        folds = stratified_folds(labels, repeats=3, seed=seed)
        scores.append(held_out_hits(features, labels, folds).mean())
    assert 0.38 < np.mean(scores) < 0.62


def test_the_scale_and_place_of_features_do_not_matter() -> None:
    features, labels = blobs(60)
    folds = stratified_folds(labels, repeats=3)
    plain = held_out_hits(features, labels, folds)
    moved = held_out_hits(1e3 * features + 5, torch.from_numpy(labels), folds)
    assert (plain != moved).mean() <= 0.05
    assert held_out_hits(np.ones_like(features), labels, folds).mean() < 0.6


def test_classifiers_in_groups_give_what_they_give_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    features, labels = blobs(60)
    folds = stratified_folds(labels, repeats=3)
    together = held_out_hits(features, labels, folds)
    monkeypatch.setattr(cross_validation, "MAX_WEIGHTS", 70)
    assert (together != held_out_hits(features, labels, folds)).mean() <= 0.05


def test_folds_of_other_images_are_refused() -> None:
    features, labels = blobs(30)
    with pytest.raises(UsageError, match=r"folds must be \(R, 30\), not \(2, 29\)"):
        held_out_hits(features, labels, stratified_folds(labels[1:], repeats=2))
