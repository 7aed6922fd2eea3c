"""A measured figure with its 95 % interval."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unshortcut.measuring.estimates.statistics import bootstrap, wilson


@dataclass(frozen=True)
class Estimate:
    """A figure of a sample, and the interval that its sample leaves."""

    value: float
    low: float
    high: float

    @classmethod
    def counted(cls, successes: int, n: int) -> "Estimate":
        """The share of n independent things that are so; NaN where n is 0."""
        return cls(successes / n if n else math.nan, *wilson(successes, n))

    @classmethod
    def share(cls, successes: NDArray[np.bool_]) -> "Estimate":
        """Of independent things (n,) that are or are not so; NaN where n is 0."""
        return cls.counted(int(successes.sum()), len(successes))

    @classmethod
    def mean(cls, values: NDArray[np.float64], *, seed: int = 0) -> "Estimate":
        """Of independent values (n,), by the bootstrap; NaN where n is 0."""
        if not len(values):
            return UNKNOWN
        return cls.of(lambda rows: float(values[rows].mean()), len(values), seed=seed)

    @classmethod
    def mean_share(cls, shares: NDArray[np.float64], *, seed: int = 0) -> "Estimate":
        """Of independent shares (n,), each 0 to 1."""
        return cls.mean(shares, seed=seed).never_certain(len(shares))

    def never_certain(self, n: int) -> "Estimate":
        """Of a share of n things: where all resamples were alike, Wilson's interval instead.

        Equal values have equal resamples, which is no reason to be certain.
        """
        if self.low < self.high or not 0 <= self.value <= 1:
            return self
        return Estimate(self.value, *wilson(self.value * n, n))

    @classmethod
    def of(
        cls, statistic: Callable[[NDArray[np.int64]], float], n: int, *, seed: int = 0
    ) -> "Estimate":
        """Of a statistic of n independent things, given the places of those that count."""
        return cls(statistic(np.arange(n)), *bootstrap(statistic, n, seed=seed))


UNKNOWN = Estimate(math.nan, math.nan, math.nan)
"""Of nothing."""
