"""Intervals against hand-computed ones and against scipy."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from unshortcut.measuring.estimates.statistics import bootstrap, wilson


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (3, 10), (10, 10), (76, 100), (1, 2)])
def test_wilson_is_scipys(successes: int, n: int) -> None:
    expected = binomtest(successes, n).proportion_ci(method="wilson")
    assert wilson(successes, n) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_of_nothing_there_is_no_interval() -> None:
    assert all(math.isnan(end) for end in wilson(0, 0))
    assert all(math.isnan(end) for end in bootstrap(lambda rows: float("nan"), 5))


def test_the_bootstrap_of_a_mean_is_close_to_its_normal_interval() -> None:
    values = np.random.default_rng(0).normal(3.0, 2.0, 400)
    low, high = bootstrap(lambda rows: float(values[rows].mean()), len(values))
    half = 1.96 * values.std() / np.sqrt(len(values))
    assert low == pytest.approx(values.mean() - half, abs=0.25 * half)
    assert high == pytest.approx(values.mean() + half, abs=0.25 * half)


def test_the_bootstrap_is_the_same_by_seed() -> None:
    def statistic(rows):  # type: ignore[no-untyped-def]
        return float(rows.mean())

    assert bootstrap(statistic, 30, seed=4) == bootstrap(statistic, 30, seed=4)
    assert bootstrap(statistic, 30, seed=4) != bootstrap(statistic, 30, seed=5)
