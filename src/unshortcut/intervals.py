"""95 % confidence intervals: Student's, Wilson's and the bootstrap's."""

import math
import statistics
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from unshortcut.randomness import generator

CONFIDENCE = 0.95
RESAMPLES = 1000
_Z = float(stats.norm.ppf((1 + CONFIDENCE) / 2))


def t_half_width(values: Sequence[float]) -> float | None:
    """Half the width of Student's 95 % interval of the mean; None for one value."""
    if len(values) < 2:
        return None
    error = statistics.stdev(values) / math.sqrt(len(values))
    return float(stats.t.ppf((1 + CONFIDENCE) / 2, len(values) - 1)) * error


def wilson(successes: float, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of the proportion `successes / n`; NaN if n is 0 (Wilson 1927).

    `successes` may be a fraction, e.g. the mean accuracy over several repeats times n, which
    `scipy.stats.binomtest` refuses; for whole numbers the two agree.
    """
    if n == 0:
        return math.nan, math.nan
    share, z2 = successes / n, _Z * _Z
    center = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    low = 0.0 if successes == 0 else max(0.0, center - half)
    return low, 1.0 if successes == n else min(1.0, center + half)


def bootstrap(
    statistic: Callable[[NDArray[np.int64]], float],
    n: int,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> tuple[float, float]:
    """The 95 % percentile interval of a statistic of n observations.

    `statistic` receives the indices (n,) of a resample. Resamples for which it is NaN are ignored;
    the interval is NaN if all are. `scipy.stats.bootstrap` gives the same interval, but can ignore
    no resample and refuses a single observation.
    """
    random = generator(seed, "bootstrap")
    values = np.array([statistic(random.integers(0, n, n)) for _ in range(resamples)])
    values = values[~np.isnan(values)]
    if not len(values):
        return math.nan, math.nan
    low, high = np.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)
