"""The work of making a data set, in units that any worker can do: the same on every engine."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

import cv2
import torch

from unshortcut.build.copying import Copying
from unshortcut.build.destination import Writer
from unshortcut.data.failures import Failure
from unshortcut.data.source import BadImageError
from unshortcut.errors import RunError, UnshortcutError

T = TypeVar("T")


class Outcome(NamedTuple):
    """What became of some images."""

    seen: int = 0
    """Images that were worked on, for the progress bar."""
    made: int = 0
    """Copies that have appeared in the destination."""
    failures: tuple[Failure, ...] = ()
    """Images of finished units that have no copy."""
    error: UnshortcutError | None = None
    """What ends the whole run: no space, say."""

    def plus(self, other: "Outcome") -> "Outcome":
        return Outcome(
            self.seen + other.seen,
            self.made + other.made,
            self.failures + other.failures,
            self.error or other.error,
        )


class Tally:
    """The sum of many outcomes."""

    def __init__(self) -> None:
        self.seen = 0
        self.made = 0
        self.failures: list[Failure] = []

    def add(self, outcome: Outcome) -> None:
        """Count an outcome; raises the error that it carries."""
        self.seen += outcome.seen
        self.made += outcome.made
        self.failures += outcome.failures
        if outcome.error is not None:
            raise outcome.error

    @property
    def done(self) -> int:
        """Images of which nothing is left to do."""
        return self.made + len(self.failures)


class Job(ABC):
    """A data set to make; pickled once for each worker.

    A unit is what appears in the destination at once: an image, or a shard.
    """

    def __init__(self, copying: Copying, writer: Writer) -> None:
        self.copying = copying
        self.writer = writer

    @abstractmethod
    def __len__(self) -> int:
        """How many units there are."""

    @abstractmethod
    def images(self) -> int:
        """How many images there are, about."""

    @abstractmethod
    def size(self, unit: int) -> int | None:
        """The bytes of a unit's source, None where they are not known."""

    @abstractmethod
    def check(self) -> None:
        """Raise `UsageError` where two results would have the same name."""

    @abstractmethod
    def earlier(self, unit: int) -> Outcome | None:
        """What an earlier run made of a unit, None where it is still to be done."""

    @abstractmethod
    def run(self, unit: int) -> Iterator[Outcome]:
        """Make a unit; tells of each image as it is seen, and what became of all at the end."""


def is_outdated(copy: int, source: int) -> bool:
    """Whether a source was written after its copy, by their times in nanoseconds.

    A source from the future comes from a clock that was wrong, and tells nothing.
    """
    return copy < source <= time.time_ns()


def run_units(job: Job, units: Iterable[int]) -> Iterator[Outcome]:
    """Make units one after the other; whatever ends the run comes as the last outcome's error."""
    try:
        for unit in units:
            yield from job.run(unit)
    except UnshortcutError as error:
        yield Outcome(error=error)
    except Exception as error:
        yield Outcome(error=RunError(f"a worker failed, {type(error).__name__}: {error}"))


def attempt(identity: str, make: Callable[[], T]) -> T | Failure:
    """What `make` gives, or why it failed: one bad image must not end a run of a million."""
    try:
        return make()
    except BadImageError as error:
        return Failure(identity, str(error))
    except Exception as error:
        return Failure(identity, f"{type(error).__name__}: {error}")


def use_one_thread() -> None:
    """Workers are many already; called in each before its first image."""
    cv2.setNumThreads(0)
    torch.set_num_threads(1)
