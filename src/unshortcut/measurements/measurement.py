"""What a measurement of the audit is: a part that looks at one model, and shows what it found.

A measurement is found by being in `measurements/`: a class with a `name`. It measures one model at
a time, so that its result can be kept; models meet only where results are shown.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, Literal, TypeVar

from unshortcut.discovery import find_all
from unshortcut.errors import unknown
from unshortcut.measuring.estimates.estimate import Estimate
from unshortcut.measuring.exhibits import Exhibit
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.progress import OnProgress

R = TypeVar("R")
Input = Literal["conflict", "shifts", "hierarchy"]
"""What a user may give beside model and data."""
Better = Literal["higher", "lower"]


@dataclass(frozen=True)
class Metric:
    """One number of a model that can be compared, and required (`--require 'name>=0.4'`)."""

    label: str
    """Begins with a capital."""
    value: float
    low: float | None = None
    high: float | None = None
    """Of the 95 % interval."""
    percent: bool = True
    """A share, 0 to 1, shown as a percentage."""
    better: Better | None = None
    """None where neither is."""
    headline: bool = True
    """Shown in the comparison of models; the rest can be required all the same."""
    note: str = ""
    """What must be known to compare it."""

    @classmethod
    def of(
        cls,
        label: str,
        found: Estimate,
        *,
        percent: bool = True,
        better: Better | None = None,
        headline: bool = True,
        note: str = "",
    ) -> "Metric":
        """Of an estimate, with its interval where it has one."""
        low, high = (None if math.isnan(end) else end for end in (found.low, found.high))
        return cls(label, found.value, low, high, percent, better, headline, note)


@dataclass(frozen=True)
class Finding:
    """A clause of a model's verdict: `decides by texture in 76 % of conflicts`."""

    text: str
    """Continues a sentence that begins with the model's name."""
    weight: float
    """How much it matters, 0 to 1: the verdict has the weightiest, and 1 is a plain shortcut."""


class Measurement(ABC, Generic[R]):
    """A question about a model, its answer, and how the answer is shown."""

    name: ClassVar[str]
    """As in `--only`."""
    title: ClassVar[str]
    question: ClassVar[str]
    """What the reader wants to know, in a sentence."""
    definition: ClassVar[str]
    """How it is measured, with its source, in a few sentences of plain text."""
    place: ClassVar[int]
    """On the page: lower comes first."""
    needs: ClassVar[tuple[Input, ...]] = ()
    """Without these it does not apply."""
    version: ClassVar[int] = 1
    """Raised when the same inputs would give another result."""
    gives: ClassVar[tuple[str, ...]]
    """Names of its metrics, so that a requirement can be checked before anything is measured; a
    name may end in `*`."""
    result: ClassVar[type]
    """A frozen dataclass of plain values, which can be written as JSON and read again."""

    @abstractmethod
    def measure(self, subject: Subject, on_progress: OnProgress) -> R:
        """Look at one model. Raises `NotApplicable` where there is nothing to look at."""

    @abstractmethod
    def metrics(self, result: R, baseline: R | None) -> dict[str, Metric]:
        """The numbers, by the names that `--require` takes."""

    @abstractmethod
    def exhibits(self, results: Mapping[str, R], baseline: R | None) -> Sequence[Exhibit]:
        """What is shown of the models' results, which are by model and at least one."""

    def finding(self, result: R) -> Finding | None:
        """What it says of a model in the verdict, if anything."""
        return None


def measurements(only: Sequence[str] = ()) -> dict[str, Measurement]:
    """Measurements by name, in the order of the page; all of them, or those asked for."""
    known = find_all("unshortcut.measurements", Measurement)  # type: ignore[type-abstract]
    for name in only:
        if name not in known:
            raise unknown("measurement", name, sorted(known))
    chosen = [known[name]() for name in known if not only or name in only]
    return {one.name: one for one in sorted(chosen, key=lambda one: one.place)}
