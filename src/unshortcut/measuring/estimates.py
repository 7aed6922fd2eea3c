"""Measured values with their 95 % confidence intervals."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unshortcut.intervals import bootstrap, wilson


@dataclass(frozen=True)
class Estimate:
    """A value measured on a sample, and its 95 % interval."""

    value: float
    low: float
    high: float

    @classmethod
    def counted(cls, successes: int, n: int) -> "Estimate":
        """The share of successes among n independent trials; NaN if n is 0."""
        return cls(successes / n if n else math.nan, *wilson(successes, n))

    @classmethod
    def share(cls, successes: NDArray[np.bool_]) -> "Estimate":
        """The share of successes among independent trials (n,); NaN if n is 0."""
        return cls.counted(int(successes.sum()), len(successes))

    @classmethod
    def mean(cls, values: NDArray[np.float64], *, seed: int = 0) -> "Estimate":
        """The mean of independent values (n,) with its bootstrap interval; NaN if n is 0."""
        if not len(values):
            return UNKNOWN
        return cls.of(lambda rows: float(values[rows].mean()), len(values), seed=seed)

    @classmethod
    def mean_share(cls, shares: NDArray[np.float64], *, seed: int = 0) -> "Estimate":
        """The mean of independent shares (n,), each from 0 to 1."""
        return cls.mean(shares, seed=seed).never_certain(len(shares))

    def never_certain(self, n: int) -> "Estimate":
        """Use Wilson's interval for a share of n equal values, which is not certain either."""
        if self.low < self.high or not 0 <= self.value <= 1:
            return self
        return Estimate(self.value, *wilson(self.value * n, n))

    @classmethod
    def of(
        cls, statistic: Callable[[NDArray[np.int64]], float], n: int, *, seed: int = 0
    ) -> "Estimate":
        """A statistic of n observations, given the indices of those to use; bootstrap interval."""
        return cls(statistic(np.arange(n)), *bootstrap(statistic, n, seed=seed))

    @classmethod
    def of_groups(
        cls,
        statistic: Callable[[NDArray[np.int64]], float],
        groups: NDArray[np.int64],
        *,
        seed: int = 0,
    ) -> "Estimate":
        """A statistic of n observations in groups (n,), such as the objects of images.

        The bootstrap draws whole groups, because observations in a group are not independent.
        """
        order = np.argsort(groups, kind="stable")
        _, starts = np.unique(groups[order], return_index=True)
        members = np.split(order, starts[1:])

        def of_drawn(drawn: NDArray[np.int64]) -> float:
            return statistic(np.concatenate([members[one] for one in drawn]))

        ends = bootstrap(of_drawn, len(members), seed=seed)
        return cls(statistic(np.arange(len(groups))), *ends)


UNKNOWN = Estimate(math.nan, math.nan, math.nan)
"""The estimate of a quantity without any observation."""


def difference(first: Estimate, second: Estimate) -> Estimate:
    """`first - second`, measured on independent images (Newcombe 1998, method 10)."""
    value = first.value - second.value
    return Estimate(
        value,
        value - math.hypot(first.value - first.low, second.high - second.value),
        value + math.hypot(first.high - first.value, second.value - second.low),
    )


def mean_estimate(parts: Sequence[Estimate], *, independent: bool) -> Estimate:
    """The mean of several estimates, e.g. of the accuracies in several folders.

    Intervals of independent estimates are combined as in `difference`; others, e.g. those of the
    same images, as if all errors had the same sign.
    """
    n = len(parts)
    value = sum(one.value for one in parts) / n
    below, above = ([p.value - p.low for p in parts], [p.high - p.value for p in parts])
    if independent:
        return Estimate(value, value - math.hypot(*below) / n, value + math.hypot(*above) / n)
    return Estimate(value, value - sum(below) / n, value + sum(above) / n)
