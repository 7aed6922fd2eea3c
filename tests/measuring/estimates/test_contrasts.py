"""Differences and means of shares against published and hand-computed intervals."""

import pytest

from unshortcut.measuring.estimates.contrasts import difference, mean
from unshortcut.measuring.estimates.estimate import Estimate


def test_the_difference_of_shares_is_newcombes() -> None:
    found = difference(Estimate.counted(56, 70), Estimate.counted(48, 80))
    # Newcombe (1998), table II, contrast a, method 10.
    assert (found.value, found.low, found.high) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)


def test_independent_means_are_narrower_than_those_that_err_together() -> None:
    parts = [Estimate(0.5, 0.4, 0.7)] * 4
    apart, together = mean(parts, independent=True), mean(parts, independent=False)
    assert (apart.value, apart.low, apart.high) == pytest.approx((0.5, 0.45, 0.6))
    assert (together.value, together.low, together.high) == pytest.approx((0.5, 0.4, 0.7))
