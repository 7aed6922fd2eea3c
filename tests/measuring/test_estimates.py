"""Estimates and their intervals, against scipy, the normal law and published numbers."""

import numpy as np
import pytest
from scipy.stats import binomtest

from unshortcut.measuring.estimates import Estimate, difference, mean_estimate


def test_a_share_has_wilsons_interval() -> None:
    found = Estimate.share(np.arange(50) < 15)
    expected = binomtest(15, 50).proportion_ci(method="wilson")
    assert (found.value, found.low, found.high) == pytest.approx((0.3, expected.low, expected.high))
    assert Estimate.counted(15, 50) == found


def test_of_nothing_there_is_no_share_and_no_mean() -> None:
    none = np.array([], dtype=bool)
    for nothing in (Estimate.counted(0, 0), Estimate.share(none), Estimate.mean(np.array([]))):
        assert np.isnan([nothing.value, nothing.low, nothing.high]).all()


def test_a_mean_has_the_interval_of_its_standard_error() -> None:
    values = np.random.default_rng(0).normal(2, 3, 400)
    found = Estimate.mean(values)
    assert found.value == pytest.approx(values.mean())
    half = 1.96 * values.std() / np.sqrt(400)
    assert found.low == pytest.approx(values.mean() - half, abs=0.04)
    assert found.high == pytest.approx(values.mean() + half, abs=0.04)


def test_a_statistic_is_of_all_things_and_its_interval_of_resamples() -> None:
    values = np.arange(101.0)
    found = Estimate.of(lambda rows: float(np.median(values[rows])), 101)
    assert found.value == 50 and 30 < found.low < 50 < found.high < 70
    assert found == Estimate.of(lambda rows: float(np.median(values[rows])), 101)
    assert found != Estimate.of(lambda rows: float(np.median(values[rows])), 101, seed=1)


def test_equal_shares_leave_an_interval_all_the_same() -> None:
    found = Estimate.mean_share(np.ones(28))
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(28 / (28 + 1.959964**2), abs=1e-6)  # Wilson's, all of n
    mixed = np.array([0.0, 1.0] * 20)
    assert Estimate.mean_share(mixed) == Estimate.mean(mixed)


def test_the_difference_of_shares_is_newcombes() -> None:
    found = difference(Estimate.counted(56, 70), Estimate.counted(48, 80))
    # Newcombe (1998), table II, contrast a, method 10.
    assert (found.value, found.low, found.high) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)


def test_independent_means_are_narrower_than_those_that_err_together() -> None:
    parts = [Estimate(0.5, 0.4, 0.7)] * 4
    apart, together = (
        mean_estimate(parts, independent=True),
        mean_estimate(parts, independent=False),
    )
    assert (apart.value, apart.low, apart.high) == pytest.approx((0.5, 0.45, 0.6))
    assert (together.value, together.low, together.high) == pytest.approx((0.5, 0.4, 0.7))
