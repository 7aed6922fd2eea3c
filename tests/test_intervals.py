"""The interval of a mean is Student's."""

import numpy as np
import pytest
from scipy import stats

from unshortcut.intervals import t_half_width


def test_the_interval_is_scipys() -> None:
    values = np.random.default_rng(0).normal(70, 2, size=10).tolist()
    low, high = stats.t.interval(0.95, 9, np.mean(values), stats.sem(values))
    assert t_half_width(values) == pytest.approx((high - low) / 2)
    # 2.262 is the tables' value for nine degrees of freedom.
    assert t_half_width([0.0] * 5 + [2.0] * 5) == pytest.approx(2.262 * (10 / 9 / 10) ** 0.5, 1e-3)


def test_one_value_has_none() -> None:
    assert t_half_width([3.0]) is None
