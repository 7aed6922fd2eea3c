"""The area under the ROC curve, compared with scikit-learn."""

import math

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from unshortcut.measuring.auroc import auroc
from unshortcut.measuring.estimates import Estimate


@pytest.mark.parametrize("levels", [3, 10**6])
def test_it_is_that_of_scikit_learn_with_and_without_ties(levels: int) -> None:
    rng = np.random.default_rng(levels)
    for _ in range(5):
        positive = rng.random(200) < 0.3
        scores = rng.integers(0, levels, 200) + positive
        assert auroc(scores, positive) == pytest.approx(roc_auc_score(positive, scores))


def test_it_needs_both_kinds() -> None:
    assert math.isnan(auroc(np.arange(3.0), np.ones(3, dtype=np.bool_)))
    assert math.isnan(auroc(np.arange(3.0), np.zeros(3, dtype=np.bool_)))


def test_the_interval_over_groups_is_wider_if_groups_are_alike() -> None:
    rng = np.random.default_rng(0)
    values = np.repeat(rng.normal(size=40), 10)  # ten copies of each of 40 observations
    groups = np.repeat(np.arange(40), 10)

    def mean(rows: np.ndarray) -> float:
        return float(values[rows].mean())

    apart, together = Estimate.of(mean, 400), Estimate.of_groups(mean, groups)
    assert apart.value == together.value == pytest.approx(values.mean())
    ratio = (together.high - together.low) / (apart.high - apart.low)
    assert 2 < ratio < 5, "by the root of 10"


def test_groups_may_come_in_any_order_and_size() -> None:
    values, groups = np.array([1.0, 5.0, 1.0, 3.0]), np.array([7, 2, 7, 2])
    sums: list[float] = []

    def total(rows: np.ndarray) -> float:
        sums.append(float(values[rows].sum()))
        return sums[-1]

    assert Estimate.of_groups(total, groups).value == 10
    assert set(sums) == {4.0, 10.0, 16.0}, "two of the groups {1, 1} and {5, 3}, with repetition"
