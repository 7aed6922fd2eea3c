"""Correlations and their intervals against the formulas by hand, and where there are none."""

import math

import numpy as np
import pytest

from unshortcut.measuring.correlation import Correlation, pearson, spearman

X = [0.1, 0.2, 0.35, 0.5, 0.62, 0.9]
Y = [2.0, 1.0, 4.0, 3.5, 9.0, 5.0]
Z = 1.959963984540054
"""The 97.5th percentile of the normal distribution."""


def test_pearson_has_fishers_interval() -> None:
    dx, dy = np.array(X) - np.mean(X), np.array(Y) - np.mean(Y)
    r = (dx @ dy) / math.sqrt((dx @ dx) * (dy @ dy))
    z, error = 0.5 * math.log((1 + r) / (1 - r)), 1 / math.sqrt(len(X) - 3)
    found = pearson(X, Y)
    assert found.value == pytest.approx(r)
    assert (found.low, found.high) == pytest.approx(
        (math.tanh(z - Z * error), math.tanh(z + Z * error))
    )
    assert (found.n, found.reason) == (6, "")


def test_spearman_is_that_of_the_ranks_with_the_interval_of_bonett_and_wright() -> None:
    ranks = np.array([2, 1, 4, 3, 6, 5])  # of Y; those of X are 1 to 6
    r = 1 - 6 * ((ranks - np.arange(1, 7)) ** 2).sum() / (6 * (36 - 1))
    error = math.sqrt((1 + r * r / 2) / 3)
    found = spearman(X, Y)
    assert found.value == pytest.approx(r)
    ends = [math.tanh(math.atanh(r) + sign * Z * error) for sign in (-1, 1)]
    assert [found.low, found.high] == pytest.approx(ends)


def test_a_falling_relation_is_negative() -> None:
    falling = [-value for value in Y]
    for correlation in (pearson, spearman):
        rising = correlation(X, Y)
        found = correlation(X, falling)
        assert (found.value, found.low, found.high) == pytest.approx(
            (-rising.value, -rising.high, -rising.low)
        )


@pytest.mark.parametrize("correlation", [pearson, spearman])
def test_too_few_points_and_equal_values_have_none_and_say_why(correlation: object) -> None:
    def reason(x: list[float], y: list[float]) -> tuple[bool, bool, str]:
        found = correlation(x, y)  # type: ignore[operator]
        assert isinstance(found, Correlation)
        return math.isnan(found.value), math.isnan(found.low), found.reason

    assert reason([1, 2], [3, 4]) == (True, True, "undefined for 2 points; it needs at least 3")
    assert reason(X, [0.3] * 6) == (True, True, "undefined, because all values of y are equal")
    equal = [0.1 + 0.2, 0.3, 0.3, 0.3]  # which rounding tells apart
    assert reason(equal, [1, 2, 3, 4])[2] == "undefined, because all values of x are equal"
    assert reason([1, 2, 3], [1, 3, 2]) == (False, True, "an interval needs at least 4 points")
    assert reason(X, X) == (False, True, "a perfect correlation has no interval")
