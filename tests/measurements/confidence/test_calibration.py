"""Calibration, entropy and scores against cases by hand and against other libraries."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.stats import entropy as scipys_entropy
from sklearn.metrics import brier_score_loss, log_loss
from torchmetrics.classification import MulticlassCalibrationError

from unshortcut.measuring.calibration import (
    BINS,
    brier,
    entropy,
    expected_error,
    expected_error_by_chance,
    largest_error,
    negative_log_likelihood,
    reliability,
)


def _probabilities(n: int, classes: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    random = np.random.default_rng(0)
    # None is certain: torchmetrics has a bin of its own for a confidence of exactly 1.
    drawn = 0.99 * random.dirichlet(np.full(classes, 0.4), n) + 0.01 / classes
    return drawn, random.integers(0, classes, n)


def test_errors_are_those_of_a_case_by_hand() -> None:
    confidence = np.array([0.95, 0.95, 0.65, 0.65])
    bins = reliability(confidence, np.array([True, False, True, True]))
    assert expected_error(bins) == pytest.approx(0.5 * (0.95 - 0.5) + 0.5 * (1 - 0.65))
    assert largest_error(bins) == pytest.approx(0.45)
    filled = [(round(one.low * BINS), one.count, one.right) for one in bins if one.count]
    assert filled == [(9, 2, 2), (14, 2, 1)]


@pytest.mark.parametrize(("norm", "ours"), [("l1", expected_error), ("max", largest_error)])
@pytest.mark.parametrize("classes", [2, 10])
def test_errors_are_those_of_torchmetrics(norm, ours, classes: int) -> None:  # type: ignore[no-untyped-def]
    probabilities, labels = _probabilities(500, classes)
    theirs = MulticlassCalibrationError(classes, n_bins=BINS, norm=norm)
    expected = theirs(torch.from_numpy(probabilities), torch.from_numpy(labels))
    bins = reliability(probabilities.max(axis=1), probabilities.argmax(axis=1) == labels)
    assert ours(bins) == pytest.approx(float(expected), abs=1e-6)


def test_a_bin_has_its_upper_edge_and_certainty_is_in_the_last() -> None:
    bins = reliability(np.array([0.2, 0.2 + 1e-9, 1.0]), np.array([True, True, True]), bins=5)
    assert [one.count for one in bins] == [1, 1, 0, 0, 1]


def test_error_by_chance_is_what_calibrated_decisions_show() -> None:
    random = np.random.default_rng(1)
    confidence = random.uniform(0.3, 1.0, 400)
    shown = [
        expected_error(reliability(confidence, random.random(400) < confidence)) for _ in range(300)
    ]
    assert expected_error_by_chance(confidence) == pytest.approx(np.mean(shown), rel=0.05)
    assert expected_error_by_chance(np.tile(confidence, 16)) == pytest.approx(
        expected_error_by_chance(confidence) / 4, rel=0.1
    )


def test_entropy_is_in_nats_and_knows_zero() -> None:
    probabilities, _ = _probabilities(50, 7)
    assert entropy(probabilities) == pytest.approx(scipys_entropy(probabilities, axis=1))
    assert entropy(np.array([[1.0, 0.0], [0.5, 0.5]])).tolist() == [0.0, pytest.approx(np.log(2))]


def test_scores_are_those_of_scikit_learn() -> None:
    probabilities, labels = _probabilities(200, 5)
    likelihood = negative_log_likelihood(probabilities, labels)
    assert likelihood.mean() == pytest.approx(log_loss(labels, probabilities, labels=range(5)))
    score = brier_score_loss(labels, probabilities, labels=list(range(5)), scale_by_half=False)
    assert brier(probabilities, labels).mean() == pytest.approx(score)
    assert brier(np.array([[1.0, 0.0]]), np.array([1])).tolist() == [2.0]


def test_a_label_without_a_vote_has_a_finite_likelihood() -> None:
    assert negative_log_likelihood(np.array([[1.0, 0.0]]), np.array([1]))[0] == pytest.approx(
        36.04, 1e-3
    )
