"""Estimates of counts and averages, of differences and means of such, and shares in words."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unshortcut.audit.estimates.estimate import Estimate
from unshortcut.audit.estimates.statistics import wilson


def share(successes: int, n: int) -> Estimate:
    """A counted share, with Wilson's interval; NaN where n is 0."""
    return Estimate(successes / n if n else math.nan, *wilson(successes, n))


def average(values: NDArray[np.float64], *, seed: int = 0) -> Estimate:
    """The mean of values (n,), with a bootstrap interval; NaN where n is 0."""
    if not len(values):
        return Estimate(math.nan, math.nan, math.nan)
    return Estimate.mean(values, seed=seed)


def percent(value: float, digits: int = 0) -> str:
    """A share in a sentence: `31 %`."""
    return f"{100 * value:.{digits}f} %"


def difference(first: Estimate, second: Estimate) -> Estimate:
    """First minus second, of independent images (Newcombe 1998, method 10)."""
    value = first.value - second.value
    return Estimate(
        value,
        value - math.hypot(first.value - first.low, second.high - second.value),
        value + math.hypot(first.high - first.value, second.value - second.low),
    )


def mean(parts: Sequence[Estimate], *, independent: bool) -> Estimate:
    """Of several, such as shares in as many folders; parts of the same images are not independent.

    Independent intervals join as in `difference`; others as if they erred together.
    """
    n = len(parts)
    value = sum(one.value for one in parts) / n
    below, above = ([p.value - p.low for p in parts], [p.high - p.value for p in parts])
    if independent:
        return Estimate(value, value - math.hypot(*below) / n, value + math.hypot(*above) / n)
    return Estimate(value, value - sum(below) / n, value + sum(above) / n)
