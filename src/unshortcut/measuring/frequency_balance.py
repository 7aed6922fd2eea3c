"""How a model depends on low and on high frequencies, from its accuracy with either."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unshortcut.measuring.estimates import UNKNOWN, Estimate


def coarse_share(
    low: NDArray[np.bool_], high: NDArray[np.bool_], chance: float, seed: int = 0
) -> Estimate:
    """The accuracy from low frequencies, as a share of that from low and from high ones.

    Both are counted above chance, so a model that recognizes coarse form alone has 1 and one that
    recognizes fine detail alone has 0. Unknown if neither accuracy is better than chance.

    Args:
        low: (n,) whether the decision on each image without high frequencies is right.
        high: (n,) the same without low frequencies.
    """

    def share(rows: NDArray[np.int64]) -> float:
        kept = [max(0.0, float(right[rows].mean()) - chance) for right in (low, high)]
        return kept[0] / sum(kept) if sum(kept) else math.nan

    if max(Estimate.share(right).low for right in (low, high)) <= chance:
        return UNKNOWN
    return Estimate.of(share, len(low), seed=seed).never_certain(len(low))


def crossing(x: Sequence[float], y: Sequence[float], level: float) -> float:
    """The smallest x at which the line through the points (x, y) reaches a level, or NaN."""
    if y[0] >= level:
        return x[0]
    for i in range(1, len(x)):
        if y[i] >= level:
            return x[i - 1] + (level - y[i - 1]) / (y[i] - y[i - 1]) * (x[i] - x[i - 1])
    return math.nan
