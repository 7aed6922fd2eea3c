"""Correlation of two quantities over a few models, with its 95 % confidence interval."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from unshortcut.intervals import CONFIDENCE

FEWEST = 3
"""Two points always lie on a line, so that their correlation says nothing."""
FEWEST_FOR_INTERVAL = 4
"""The standard error of Fisher's z has n - 3 in its denominator."""
_PERFECT = 1 - 1e-12


@dataclass(frozen=True)
class Correlation:
    """A correlation coefficient and its 95 % interval."""

    value: float
    """From -1 to 1; NaN if it is undefined."""
    low: float
    """NaN if there is no interval."""
    high: float
    n: int
    """Number of points."""
    reason: str = ""
    """Why there is no value or no interval."""


def pearson(x: Sequence[float], y: Sequence[float]) -> Correlation:
    """Pearson's correlation r, with the interval tanh(atanh r ± 1.96 / √(n - 3)) (Fisher 1921)."""
    problem = _problem(x, y)
    if problem:
        return Correlation(math.nan, math.nan, math.nan, len(x), problem)
    found = stats.pearsonr(x, y)
    value = float(found.statistic)
    no_interval = _no_interval(value, len(x))
    if no_interval:
        return Correlation(value, math.nan, math.nan, len(x), no_interval)
    low, high = found.confidence_interval(CONFIDENCE)
    return Correlation(value, float(low), float(high), len(x))


def spearman(x: Sequence[float], y: Sequence[float]) -> Correlation:
    """Spearman's rank correlation r, with the interval of Bonett and Wright (2000).

    It is tanh(atanh r ± 1.96 √((1 + r²/2) / (n - 3))). SciPy has none, and a bootstrap of a few
    points repeats some of them, which ties their ranks.
    """
    problem = _problem(x, y)
    if problem:
        return Correlation(math.nan, math.nan, math.nan, len(x), problem)
    value = float(stats.spearmanr(x, y).statistic)
    no_interval = _no_interval(value, len(x))
    if no_interval:
        return Correlation(value, math.nan, math.nan, len(x), no_interval)
    z = float(stats.norm.ppf((1 + CONFIDENCE) / 2))
    reach = z * math.sqrt((1 + value**2 / 2) / (len(x) - 3))
    center = math.atanh(value)
    return Correlation(value, math.tanh(center - reach), math.tanh(center + reach), len(x))


def _problem(x: Sequence[float], y: Sequence[float]) -> str:
    """Why there is no correlation; empty if there is one."""
    if len(x) < FEWEST:
        return f"undefined for {len(x)} points; it needs at least {FEWEST}"
    for name, values in (("x", x), ("y", y)):
        # Rounding may tell equal values apart, whose correlation would be one of rounding errors.
        if np.ptp(values) <= 1e-12 * max(1e-300, float(np.max(np.abs(values)))):
            return f"undefined, because all values of {name} are equal"
    return ""


def _no_interval(value: float, n: int) -> str:
    """Why there is no interval; empty if there is one."""
    if n < FEWEST_FOR_INTERVAL:
        return f"an interval needs at least {FEWEST_FOR_INTERVAL} points"
    return "a perfect correlation has no interval" if abs(value) > _PERFECT else ""
