"""Intervals against scipy's and against those computed by hand."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from unshortcut.intervals import RESAMPLES, bootstrap, t_half_width, wilson
from unshortcut.randomness import generator


def test_the_interval_is_scipys() -> None:
    values = np.random.default_rng(0).normal(70, 2, size=10).tolist()
    low, high = stats.t.interval(0.95, 9, np.mean(values), stats.sem(values))
    assert t_half_width(values) == pytest.approx((high - low) / 2)
    # 2.262 is the tables' value for nine degrees of freedom.
    assert t_half_width([0.0] * 5 + [2.0] * 5) == pytest.approx(2.262 * (10 / 9 / 10) ** 0.5, 1e-3)


def test_one_value_has_none() -> None:
    assert t_half_width([3.0]) is None


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (3, 10), (10, 10), (76, 100), (1, 2)])
def test_wilson_is_scipys(successes: int, n: int) -> None:
    expected = stats.binomtest(successes, n).proportion_ci(method="wilson")
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
    def statistic(rows: NDArray[np.int64]) -> float:
        return float(rows.mean())

    assert bootstrap(statistic, 30, seed=4) == bootstrap(statistic, 30, seed=4)
    assert bootstrap(statistic, 30, seed=4) != bootstrap(statistic, 30, seed=5)


def test_fractions_of_successes_lie_between_whole_ones() -> None:
    for end in (0, 1):
        assert wilson(3, 10)[end] < wilson(3.5, 10)[end] < wilson(4, 10)[end]


@pytest.mark.parametrize("n", [2, 7, 500])
def test_the_bootstrap_is_scipys(n: int) -> None:
    values = np.random.default_rng(0).normal(size=n)

    def statistic(rows: NDArray[np.int64]) -> float:
        return float(values[rows].mean())

    theirs = stats.bootstrap(
        (np.arange(n),),
        statistic,
        n_resamples=RESAMPLES,
        vectorized=False,
        method="percentile",
        random_state=generator(3, "bootstrap"),
    ).confidence_interval
    expected = (theirs.low, theirs.high)
    assert bootstrap(statistic, n, seed=3) == pytest.approx(expected, abs=1e-12)


def test_resamples_without_a_value_are_ignored() -> None:
    def statistic(rows: NDArray[np.int64]) -> float:
        return float("nan") if rows[0] else float(rows.mean())

    low, high = bootstrap(statistic, 40)
    assert 0 < low < high < 39
