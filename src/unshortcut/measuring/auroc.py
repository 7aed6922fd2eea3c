"""Area under the ROC curve: how well a score ranks positives above negatives."""

import math

import numpy as np
from numpy.typing import NDArray
from scipy import stats


def auroc(scores: NDArray[np.floating], positive: NDArray[np.bool_]) -> float:
    """The probability that a random positive has a higher score than a random negative.

    Ties count one half. Computed from ranks (Mann and Whitney 1947), so that a bootstrap is quick;
    NaN if all are positive or none is.

    Args:
        scores: (n,), finite.
        positive: (n,).

    >>> auroc(np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True]))
    0.75
    """
    count = int(positive.sum())
    others = len(positive) - count
    if not count or not others:
        return math.nan
    ranks = stats.rankdata(scores)
    return float((ranks[positive].sum() - count * (count + 1) / 2) / (count * others))
