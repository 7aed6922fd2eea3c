"""Weak slices by a property of files or pixels: the dark images of a class, or its PNG files.

As in `slices.py`, one half of a class proposes and the other half decides. All properties compete
in the first half, where one of them wins, so that their number does not make a false alarm in the
second half any more likely.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom

from unshortcut.measuring.slices import Halves, Slice, decided
from unshortcut.properties.columns import Column

LEAST, MOST = 0.1, 0.5
"""Share of the proposing half that a slice has: fewer images are chance, more are the rule."""
_BOUNDS = 100
"""Bounds of a property that are tried, at most, evenly spaced among the images."""


@dataclass(frozen=True)
class Condition:
    """What the images of a slice have in common: one value, or values up to or above a bound."""

    column: Column
    relation: str  # `is`, `at most` or `above`
    value: float

    def __str__(self) -> str:
        label = self.column.about.label
        value = self.column.text(self.value)
        return f"{label}: {value}" if self.relation == "is" else f"{label} {self.relation} {value}"

    def holds(self) -> NDArray[np.bool_]:
        """(N,): for which images of the column it holds."""
        values = self.column.values
        if self.relation == "is":
            return np.asarray(values == self.value)
        inside = values <= self.value if self.relation == "at most" else values > self.value
        return inside & _numbers(self.column)

    def typical(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows for which it holds, the most extreme first."""
        sign = {"is": 0, "at most": 1, "above": -1}[self.relation]
        return rows[np.argsort(sign * self.column.values[rows], kind="stable")]


def find_property_slice(
    columns: Mapping[str, Column], right: NDArray[np.bool_], parts: Halves
) -> tuple[Condition, Slice] | None:
    """The slice of one class by the property that tells errors from hits best.

    None if there is no property with which the proposing half could be divided, or if it does not
    divide the deciding half.

    Args:
        columns: properties of the N images of the class, by name; NaN where one is not known.
        right: (N,), whether each is classified correctly.
        parts: the two halves of the class.
    """
    tried = [one for column in columns.values() for one in _conditions(column, parts.proposing)]
    if not tried:
        return None
    inside = np.stack([one.holds()[parts.proposing] for one in tried])  # (conditions, images)
    wrong = ~right[parts.proposing]
    errors = (inside & wrong).sum(axis=1)
    # Fisher's one-sided p of each: how likely so many of the errors are inside by chance.
    p = hypergeom.sf(errors - 1, len(wrong), int(wrong.sum()), inside.sum(axis=1))
    best = tried[int(np.argmin(p))]
    holds = best.holds()[parts.deciding]
    if holds.all() or not holds.any():
        return None
    members = best.typical(parts.deciding[holds])
    return best, decided(right, members, parts.deciding[~holds])


def _conditions(column: Column, rows: NDArray[np.int64]) -> Iterator[Condition]:
    """Conditions of one property that hold for neither too few nor too many of the rows."""
    values = column.values[rows]
    low, high = max(1.0, LEAST * len(rows)), MOST * len(rows)
    for value in column.names:
        if low <= np.count_nonzero(values == value) <= high:
            yield Condition(column, "is", value)
    if column.about.categories:
        return
    numbers = np.sort(values[_numbers(column)[rows]])
    cuts = np.flatnonzero(np.diff(numbers)) + 1  # how many images are below each bound
    for below in cuts[:: max(1, math.ceil(len(cuts) / _BOUNDS))].tolist():
        bound = _bound(float(numbers[below - 1]), float(numbers[below]), column.about.digits)
        if low <= below <= high:
            yield Condition(column, "at most", bound)
        if low <= len(numbers) - below <= high:
            yield Condition(column, "above", bound)


def _bound(low: float, high: float, digits: int) -> float:
    """A bound between two values, rounded as it is shown where that keeps it between them."""
    rounded = round((low + high) / 2, digits)
    return rounded if low <= rounded < high else low


def _numbers(column: Column) -> NDArray[np.bool_]:
    """(N,): which values are numbers, and neither unknown nor a name, such as `no JPEG`."""
    return np.isfinite(column.values) & ~np.isin(column.values, list(column.names))
