"""Intervals of measured shares: Wilson's for a count, the bootstrap for what is made of many."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from unshortcut.randomness import generator

LEVEL = 0.95
RESAMPLES = 1000


def wilson(successes: float, n: int) -> tuple[float, float]:
    """The 95 % interval of a share `successes / n`; NaN where n is 0 (Wilson 1927)."""
    if n == 0:
        return float("nan"), float("nan")
    z = float(norm.ppf((1 + LEVEL) / 2))
    share = successes / n
    center = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low = 0.0 if successes == 0 else float(max(0.0, center - half))
    return low, 1.0 if successes == n else float(min(1.0, center + half))


def bootstrap(
    statistic: Callable[[NDArray[np.int64]], float],
    n: int,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> tuple[float, float]:
    """The 95 % percentile interval of a statistic of n things, given the places (n,) of a resample.

    Resamples for which it is NaN are left out; NaN where all are.
    """
    random = generator(seed, "bootstrap")
    values = np.array([statistic(random.integers(0, n, n)) for _ in range(resamples)])
    values = values[~np.isnan(values)]
    if not len(values):
        return float("nan"), float("nan")
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
