"""Differences and means of shares against published and hand-computed intervals."""

import math

import numpy as np
import pytest

from unshortcut.audit.estimates.contrasts import average, difference, mean, percent, share
from unshortcut.audit.estimates.estimate import Estimate


def test_the_difference_of_shares_is_newcombes() -> None:
    found = difference(share(56, 70), share(48, 80))
    # Newcombe (1998), table II, contrast a, method 10.
    assert (found.value, found.low, found.high) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)


def test_independent_means_are_narrower_than_those_that_err_together() -> None:
    parts = [Estimate(0.5, 0.4, 0.7)] * 4
    apart, together = mean(parts, independent=True), mean(parts, independent=False)
    assert (apart.value, apart.low, apart.high) == pytest.approx((0.5, 0.45, 0.6))
    assert (together.value, together.low, together.high) == pytest.approx((0.5, 0.4, 0.7))


def test_of_nothing_there_is_no_share_and_no_average() -> None:
    for nothing in (share(0, 0), average(np.array([]))):
        assert math.isnan(nothing.value) and math.isnan(nothing.low) and math.isnan(nothing.high)


def test_an_average_lies_in_its_interval() -> None:
    values = np.random.default_rng(0).random(100)
    found = average(values)
    assert found.value == pytest.approx(values.mean())
    assert values.mean() - 0.1 < found.low < found.value < found.high < values.mean() + 0.1


def test_a_share_in_words() -> None:
    assert percent(0.314) == "31 %"
    assert percent(0.314, 1) == "31.4 %"
