"""One classifier per class: logistic regression and support vector machines, as scikit-learn's."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.svm import LinearSVC

from unshortcut.errors import UsageError
from unshortcut.probes.average_precision import mean_average_precision
from unshortcut.probes.one_vs_rest import fit_logistic, stratified_by_class
from unshortcut.probes.svm import fit_svms, unit_rows

Made = tuple[NDArray[np.float32], NDArray[np.int8]]


def made(images: int = 240, dim: int = 10, classes: int = 3, seed: int = 0) -> Made:
    """Features with a mean, and classes of different frequency that they show with some noise."""
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((images, dim)) * rng.uniform(0.3, 3, dim) + 5
    directions = np.random.default_rng(99).standard_normal((dim, classes))
    hidden = (features - 5) @ directions + 2 * rng.standard_normal((images, classes))
    values = (hidden > np.linspace(0, 6, classes)).astype(np.int8)
    values[rng.random(values.shape) < 0.1] = -1
    return features.astype(np.float32), values


def test_each_class_is_the_logistic_regression_of_the_images_where_it_is_known() -> None:
    features, values = made()
    found = fit_logistic(features, values, penalties=[1e-3]).classifiers
    variance = features.astype(np.float64).var(0).sum()
    for number in range(values.shape[1]):
        known = values[:, number] >= 0
        shown = values[known, number] == 1
        rate, count = shown.mean(), len(shown)
        penalty = 1e-3 * variance * 4 * rate * (1 - rate) * count
        peer = LogisticRegression(C=1 / penalty, tol=1e-10, max_iter=5000)
        peer.fit(features[known].astype(np.float64), shown)
        expected = peer.decision_function(features)
        close = found.scores(features)[:, number].numpy()
        assert np.abs(close - expected).max() < 0.05 * expected.std()


def test_the_penalty_is_the_best_one_on_held_out_images() -> None:
    """With 60 features of noise beside few images, the weak penalties overfit."""
    rng = np.random.default_rng(3)
    features = rng.standard_normal((90, 60)).astype(np.float32)
    values = (features[:, :2] + 0.7 * rng.standard_normal((90, 2)) > 0.5).astype(np.int8)
    penalties = (1e-1, 1e-3, 1e-8)
    found = fit_logistic(features, values, penalties=penalties, folds=3)
    assert list(found.held_out) == [1e-1, 1e-3, 1e-8]
    assert found.penalty == max(found.held_out, key=found.held_out.__getitem__) != 1e-8
    # the same by scikit-learn on the same folds
    held = stratified_by_class(values, 3, 0)
    precisions = []
    for fold in range(3):
        scores, tested = np.zeros(values.shape), np.full(values.shape, -1)
        for number in range(2):
            out = held[:, number] == fold
            rate, count = values[~out, number].mean(), int((~out).sum())
            penalty = 0.1 * features.var(0).sum() * 4 * rate * (1 - rate) * count
            peer = LogisticRegression(C=1 / penalty, tol=1e-10, max_iter=5000)
            peer.fit(features[~out], values[~out, number])
            scores[out, number] = peer.decision_function(features[out])
            tested[out, number] = values[out, number]
        precisions.append(mean_average_precision(scores, tested))
    assert found.held_out[0.1] == pytest.approx(np.mean(precisions), abs=2e-3)


def test_the_scale_of_the_features_does_not_matter() -> None:
    features, values = made()
    plain = fit_logistic(features, values)
    scaled = fit_logistic(features * 1000, values)
    assert scaled.penalty == plain.penalty
    close = scaled.classifiers.scores(features * 1000) - plain.classifiers.scores(features)
    assert close.abs().max() < 0.05


def test_folds_are_even_in_every_class() -> None:
    _, values = made(100, classes=4)
    folds = stratified_by_class(values, 3, seed=1)
    for number in range(4):
        for value in (1, 0):
            counts = np.bincount(folds[values[:, number] == value, number], minlength=3)
            assert counts.max() - counts.min() <= 1
    assert (folds != stratified_by_class(values, 3, seed=2)).any()


@pytest.mark.parametrize("fit", [fit_logistic, fit_svms])
def test_classes_that_no_image_shows_or_all_do_harm_no_other(fit: object) -> None:
    features, values = made(60)
    values[:, 0], values[:, 1] = 1, 0
    unknown = np.full((60, 1), -1, np.int8)
    rare = np.zeros((60, 1), np.int8)
    rare[7] = 1
    joined = np.concatenate([values, unknown, rare], axis=1)
    assert callable(fit)
    found = fit(features, joined).classifiers
    rows = unit_rows(features) if fit is fit_svms else features
    scores = found.scores(rows)
    assert scores.isfinite().all()
    assert mean_average_precision(scores[:, 2:3], joined[:, 2:3]) > 0.8


@pytest.mark.parametrize(("images", "dim"), [(150, 6), (40, 90)])
def test_each_machine_is_that_of_the_published_benchmark(images: int, dim: int) -> None:
    """The dual with tight tolerance, as published, and its cost by 3-fold cross-validation."""
    features, values = made(images, dim)
    found = fit_svms(features, values)
    rows = unit_rows(features).double().numpy()
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-6)
    for number in range(values.shape[1]):
        known = values[:, number] >= 0
        target = np.where(values[known, number] == 1, 1, -1)
        means = {
            cost: cross_val_score(
                LinearSVC(C=cost, class_weight={1: 2, -1: 1}, dual=False),
                rows[known],
                target,
                cv=3,
                scoring="average_precision",
            ).mean()
            for cost in (1.0, 10.0, 100.0)
        }
        cost = found.costs[number]
        assert means[cost] == max(means.values())
        peer = LinearSVC(
            C=cost, class_weight={1: 2, -1: 1}, dual=True, tol=1e-8, max_iter=200_000
        ).fit(rows[known], target)
        close = found.classifiers.scores(torch.from_numpy(rows))[:, number].numpy()
        expected = peer.decision_function(rows)
        assert np.abs(close - expected).max() < 0.02 * expected.std()


def test_wrong_input_is_said() -> None:
    features, values = made(30)
    with pytest.raises(UsageError, match=r"values must be \(30, C\), not \(29, 3\)"):
        fit_logistic(features, values[1:])
    with pytest.raises(UsageError, match="penalties must be above 0"):
        fit_logistic(features, values, penalties=[0.0])
    with pytest.raises(UsageError, match=r"costs must be above 0, not \[\]"):
        fit_svms(features, values, costs=[])
