"""The work of copying a data set, divided into units that any worker of any engine can make."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

import cv2
import torch

from unshortcut.build.destination import Writer
from unshortcut.data.failures import Failure
from unshortcut.data.source import BadImageError
from unshortcut.errors import RunError, UnshortcutError

T = TypeVar("T")


class Outcome(NamedTuple):
    """The result of working on some images."""

    seen: int = 0
    """Number of images processed, for the progress bar."""
    made: int = 0
    """Number of copies written to the destination."""
    failures: tuple[Failure, ...] = ()
    """Images of finished units that could not be copied."""
    error: UnshortcutError | None = None
    """An error that ends the whole run, such as a full disk."""

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
        """Add an outcome; raises its error, if it has one."""
        self.seen += outcome.seen
        self.made += outcome.made
        self.failures += outcome.failures
        if outcome.error is not None:
            raise outcome.error

    @property
    def done(self) -> int:
        """Number of images that were copied or have failed."""
        return self.made + len(self.failures)


class Job(ABC):
    """A data set to copy; pickled once for each worker.

    A unit is what is written in one piece: an image or a shard.
    """

    copies: int = 1
    """Files that are written for each image, for an estimate of the space that they need."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer

    @abstractmethod
    def __len__(self) -> int:
        """Number of units."""

    @abstractmethod
    def num_images(self) -> int:
        """Number of images, exact or estimated."""

    @abstractmethod
    def size(self, unit: int) -> int | None:
        """Size of a unit's source in bytes, or None if unknown."""

    @abstractmethod
    def check(self) -> None:
        """Raise `UsageError` if two results would have the same name."""

    @abstractmethod
    def earlier(self, unit: int) -> Outcome | None:
        """The outcome of a unit that an earlier run made, or None if it is still to be made."""

    @abstractmethod
    def run(self, unit: int) -> Iterator[Outcome]:
        """Make a unit; yields progress for each image, then the outcome of the whole unit."""

    def finish(self) -> None:
        """Called once when all units are made, before the manifest says so."""
        return


def is_outdated(copy: int, source: int) -> bool:
    """Whether a source was written after its copy; both times are in nanoseconds.

    A time in the future comes from a wrong clock and is ignored.
    """
    return copy < source <= time.time_ns()


def run_units(job: Job, units: Iterable[int]) -> Iterator[Outcome]:
    """Make units in order; an error that ends the run is returned in the last outcome."""
    try:
        for unit in units:
            yield from job.run(unit)
    except UnshortcutError as error:
        yield Outcome(error=error)
    except Exception as error:
        yield Outcome(error=RunError(f"a worker failed, {type(error).__name__}: {error}"))


def attempt(identity: str, make: Callable[[], T]) -> T | Failure:
    """The result of `make`, or the reason it failed: one bad image must not end a long run."""
    try:
        return make()
    except BadImageError as error:
        return Failure(identity, str(error))
    except Exception as error:
        return Failure(identity, f"{type(error).__name__}: {error}")


def use_one_thread() -> None:
    """Use one thread per worker process; called in each worker before its first image."""
    cv2.setNumThreads(0)
    torch.set_num_threads(1)
