"""Differences and means of estimates."""

import math
from collections.abc import Sequence

from unshortcut.measuring.estimates.estimate import Estimate


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
