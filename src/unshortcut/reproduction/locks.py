"""Locks on folders, so that of several commands only one trains or prepares the same thing."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from unshortcut.files import try_lock

POLL_SECONDS = 2.0
"""Pause between checks whether another command has finished."""


@contextmanager
def locked(folder: Path) -> Iterator[bool]:
    """Lock a folder, which is created if needed, without waiting; False if it is locked already.

    The lock ends with the context, or with the process.
    """
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield try_lock(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def waiting_lock(folder: Path) -> Iterator[None]:
    """Lock a folder, which is created if needed, as soon as no other command holds it."""
    while True:
        with locked(folder) as ours:
            if ours:
                yield
                return
        time.sleep(POLL_SECONDS)


def is_locked(folder: Path) -> bool:
    """Whether a command is at work in a folder."""
    if not folder.is_dir():
        return False
    with locked(folder) as ours:
        return not ours
