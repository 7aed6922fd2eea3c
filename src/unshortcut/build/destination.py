"""The destination folder: which folders are allowed, locking, and writing whole files."""

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
"""Seconds to wait for the workers of a killed run to exit."""


def check_destination(destination: Path, sources: Iterable[Path]) -> None:
    """Raise `UsageError` if a data set must not be written there; nothing is changed on disk."""
    target = destination.resolve()
    for source in sources:
        path = source.resolve()
        if path == target:
            raise UsageError(f"{destination} is the source itself; name another folder to write to")
        if path.is_dir() and target.is_relative_to(path):
            raise UsageError(
                f"{destination} lies inside the source {source}, so copies would become sources; "
                "name a folder outside of it"
            )
        if path.is_relative_to(target):
            raise UsageError(
                f"the source {source} lies inside {destination}; name a folder to write to that "
                "does not contain it"
            )
    if destination.exists() and not destination.is_dir():
        raise UsageError(f"{destination} is a file; name a folder to write to")
    if destination.is_dir() and not (destination / MANIFEST).is_file():
        others = sorted({entry.name for entry in destination.iterdir()} - _UNTIDY)
        if others:
            raise UsageError(
                f"{destination} contains other files, such as {others[0]}, but no {MANIFEST} that "
                "says how they were made; name a new or an empty folder"
            )


class Writer:
    """Writes files to a hidden folder on the same file system, then renames them.

    The next run empties the hidden folder. Each run has a subfolder of its own there, so that a
    surviving worker of an earlier run cannot leave a file behind.
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
        """Write a file at a path below the destination; raises `RunError` if that fails."""
        with self.open(name) as path:
            path.write_bytes(content)

    @contextmanager
    def open(self, name: str) -> Iterator[Path]:
        """A path to write to; it is renamed to `name` unless an exception was raised."""
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
            raise RunError(f"{_reason(error)} while writing {name}") from None
        finally:
            aside.unlink(missing_ok=True)


def _reason(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "there is no space left"
    return f"writing failed ({error.strerror})"


@contextmanager
def sole_writer(destination: Path) -> Iterator[None]:
    """Lock a folder against other runs until the run and all of its workers have ended."""
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
