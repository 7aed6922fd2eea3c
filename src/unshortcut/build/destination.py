"""The folder of a new data set: what may be one, who may write to it, how files appear in it."""

import errno
import os
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from unshortcut.data.copies import MANIFEST
from unshortcut.errors import RunError, UsageError
from unshortcut.files import PARTIAL_SUFFIX, try_lock

_ASIDE = ".partial"
_UNTIDY = {_ASIDE, f".{MANIFEST}{PARTIAL_SUFFIX}"}
_PATIENCE = 5.0
"""Seconds that the workers of a killed run may take to notice."""


def check_destination(destination: Path, sources: Iterable[Path]) -> None:
    """Raise `UsageError` where a data set must not be written; nothing is changed on disk."""
    target = destination.resolve()
    for source in sources:
        place = source.resolve()
        if place == target:
            raise UsageError(f"{destination} is the source itself; name another folder to write to")
        if place.is_dir() and target.is_relative_to(place):
            raise UsageError(
                f"{destination} lies inside the source {source}, so copies would become sources; "
                "name a folder outside of it"
            )
        if place.is_relative_to(target):
            raise UsageError(
                f"the source {source} lies inside {destination}; name a folder to write to that "
                "does not hold it"
            )
    if destination.exists() and not destination.is_dir():
        raise UsageError(f"{destination} is a file; name a folder to write to")
    if destination.is_dir() and not (destination / MANIFEST).is_file():
        others = sorted({entry.name for entry in destination.iterdir()} - _UNTIDY)
        if others:
            raise UsageError(
                f"{destination} holds other files, such as {others[0]}, and no {MANIFEST} that "
                "would say how they were made; name a new or an empty folder"
            )


class Writer:
    """Puts whole files in place: written aside on the same file system, then renamed.

    What a killed run left aside lies in one hidden folder, which the next run empties. Each run
    has a folder of its own in it, so that a straggler of an earlier one cannot leave anything.
    """

    def __init__(self, destination: Path) -> None:
        self.destination = destination
        self.aside = destination / _ASIDE / secrets.token_hex(8)

    def start(self) -> None:
        self.clean_up()
        self.aside.mkdir(parents=True)

    def clean_up(self) -> None:
        shutil.rmtree(self.destination / _ASIDE, ignore_errors=True)

    def put(self, name: str, content: bytes) -> None:
        """Write a file at a path below the destination; `RunError` where that fails."""
        with self.open(name) as path:
            path.write_bytes(content)

    @contextmanager
    def open(self, name: str) -> Iterator[Path]:
        """A path to write to, which becomes the file `name` when all went well."""
        aside = self.aside / secrets.token_hex(8)
        try:
            yield aside
            target = self.destination / name
            try:
                aside.replace(target)
            except FileNotFoundError:
                target.parent.mkdir(parents=True, exist_ok=True)
                aside.replace(target)
        except OSError as error:
            raise RunError(f"{_why(error)} while {name} was written") from None
        finally:
            aside.unlink(missing_ok=True)


def _why(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "there is no space left"
    return f"writing failed ({error.strerror})"


@contextmanager
def sole_writer(destination: Path) -> Iterator[None]:
    """Keep others from writing to a folder; the lock ends with the run and all of its workers."""
    descriptor = os.open(destination, os.O_RDONLY)
    try:
        deadline = time.monotonic() + _PATIENCE
        while not try_lock(descriptor):
            if time.monotonic() > deadline:
                raise UsageError(f"another run is writing to {destination}; let it finish first")
            time.sleep(0.05)
        yield
    finally:
        os.close(descriptor)
