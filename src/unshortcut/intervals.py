"""How far a mean of a few repeats, such as seeds or trials, is certain."""

import math
import statistics
from collections.abc import Sequence

from scipy import stats

CONFIDENCE = 0.95


def t_half_width(values: Sequence[float]) -> float | None:
    """Half the width of Student's 95 % interval of the mean; None for one value."""
    if len(values) < 2:
        return None
    error = statistics.stdev(values) / math.sqrt(len(values))
    return float(stats.t.ppf((1 + CONFIDENCE) / 2, len(values) - 1)) * error
