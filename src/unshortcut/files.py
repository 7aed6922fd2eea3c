"""Files appear whole or not at all: written aside in the same folder, synced, then renamed."""

import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

PARTIAL_SUFFIX = ".partial"


@contextmanager
def atomic_open(path: str | Path, *, shared: bool = False) -> Iterator[IO[bytes]]:
    """Open a binary file that takes its name only after it is complete and on disk.

    Whatever fails on the way (a full disk, a kill), the old file stays as it was; a partial file
    that an error leaves is removed, one that a kill leaves is overwritten by the next writer.
    A `shared` file may have several writers at once, each with a partial file of its own.
    """
    path = Path(path)
    own = f".{secrets.token_hex(4)}" if shared else ""
    aside = path.with_name(f".{path.name}{own}{PARTIAL_SUFFIX}")
    try:
        with aside.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Make a rename durable; file systems that cannot sync a folder don't need it."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)


def write_bytes(path: str | Path, content: bytes) -> None:
    with atomic_open(path) as file:
        file.write(content)


def write_text(path: str | Path, content: str) -> None:
    write_bytes(path, content.encode())


def write_json(path: str | Path, content: Any) -> None:
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def try_lock(descriptor: int) -> bool:
    """Whether an open file or folder is now ours, until it is closed; nobody waits."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # a network's file system without locks
    return True


def cache_folder() -> Path:
    """Where caches live: `UNSHORTCUT_CACHE`, or `unshortcut` in the user's cache folder."""
    given = os.environ.get("UNSHORTCUT_CACHE")
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "unshortcut"
