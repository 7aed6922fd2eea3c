"""The interface of the measurements of an audit.

A measurement is a class with a `name` in a module of `measurements/`, where it is found. It
measures one model at a time, so that its result can be cached; models are compared when results
are shown.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, Literal, TypeVar

from unshortcut.discovery import find_all
from unshortcut.errors import unknown
from unshortcut.measuring.estimates import Estimate
from unshortcut.measuring.exhibits import Exhibit
from unshortcut.measuring.glance import GlancePart
from unshortcut.measuring.passes import Passes
from unshortcut.measuring.settings import Input, Profile
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.progress import OnProgress

R = TypeVar("R")
Better = Literal["higher", "lower"]


@dataclass(frozen=True)
class Metric:
    """A number that can be compared between models, and required (`--require 'name>=0.4'`)."""

    label: str
    """Starts with a capital letter."""
    value: float
    low: float | None = None
    """Lower end of the 95 % interval."""
    high: float | None = None
    """Upper end of the 95 % interval."""
    percent: bool = True
    """Whether it is a share from 0 to 1, shown as a percentage."""
    better: Better | None = None
    """Which values are better; None if neither."""
    headline: bool = True
    """Whether the comparison of models shows it; others can be required all the same."""
    note: str = ""
    """What a reader needs to know to compare it."""

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
        """The metric of an estimate, with its interval if it has one."""
        low, high = (None if math.isnan(end) else end for end in (found.low, found.high))
        return cls(label, found.value, low, high, percent, better, headline, note)


Metrics = dict[str, Metric]
"""Metrics by name."""


@dataclass(frozen=True)
class Finding:
    """A clause of the verdict on a model, e.g. `decides by texture in 76 % of conflicts`."""

    text: str
    """Continues a sentence that starts with the name of the model."""
    weight: float
    """Importance from 0 to 1, where 1 is a clear shortcut; the verdict has the most important."""
    brief: str = ""
    """The same in a few words, without numbers, for the page, which shows them in a picture."""


class Measurement(ABC, Generic[R]):
    """A question about a model, how to answer it, and how to show the answer."""

    name: ClassVar[str]
    """Its name in `--only`."""
    title: ClassVar[str]
    question: ClassVar[str]
    """What the reader wants to know, in one sentence."""
    definition: ClassVar[str]
    """How it is measured, with references, in a few sentences of plain text."""
    order: ClassVar[int]
    """Position on the page: lower numbers come first."""
    needs: ClassVar[tuple[Input, ...]] = ()
    """Inputs without which it does not apply."""
    uses: ClassVar[tuple[Input, ...]] = ()
    """Inputs that change its result if they are given; it does without them."""
    quick: ClassVar[bool] = False
    """Whether the profile `quick` includes it."""
    version: ClassVar[int] = 1
    """To be increased when the same inputs would give another result."""
    gives: ClassVar[tuple[str, ...]]
    """Names of its metrics, so that requirements can be checked before anything is measured; a
    name may end in `*`."""
    result: ClassVar[type]
    """A frozen dataclass of plain values, which is cached as JSON."""

    @abstractmethod
    def measure(self, subject: Subject, on_progress: OnProgress) -> R:
        """Measure one model. Raises `NotApplicable` if there is nothing to measure."""

    def passes(self, subject: Subject) -> Passes | None:
        """How often it will run the model, at most; None if that is not known.

        May raise what `measure` would raise. The time of the measurement is estimated from it.
        """
        return None

    @abstractmethod
    def metrics(self, result: R, baseline: R | None) -> Metrics:
        """The metrics of a model, by the names that `--require` accepts."""

    @abstractmethod
    def exhibits(self, results: Mapping[str, R], baseline: R | None) -> Sequence[Exhibit]:
        """What the page shows of the results of one or more models."""

    def glance(self, results: Mapping[str, R]) -> Sequence[GlancePart]:
        """What the top of the page shows of the models, if anything.

        Without results, the ends of an axis and the titles of pictures.
        """
        return ()

    def finding(self, result: R) -> Finding | None:
        """The clause about a model in the verdict, if any."""
        return None


class OnPlainImages(Measurement[R]):
    """A measurement of plain images alone, which costs nothing beside others that use them."""

    quick = True

    def passes(self, subject: Subject) -> Passes:
        return Passes(plain=len(subject.unlabeled()))


def measurements(only: Sequence[str] = (), profile: Profile = "standard") -> dict[str, Measurement]:
    """The measurements by name, in the order of the page: those of a profile, or `only` some."""
    known = find_all("unshortcut.measurements", Measurement)  # type: ignore[type-abstract]
    for name in only:
        if name not in known:
            raise unknown("measurement", name, sorted(known))
    every = profile != "quick"
    chosen = [
        one() for name, one in known.items() if (name in only if only else every or one.quick)
    ]
    return {one.name: one for one in sorted(chosen, key=lambda one: one.order)}
