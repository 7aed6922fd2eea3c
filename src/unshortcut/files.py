"""Atomic writing: files are written under a temporary name, synced, then renamed."""

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

PARTIAL_SUFFIX = ".partial"


@contextmanager
def atomic_open(path: str | Path, *, shared: bool = False) -> Iterator[IO[bytes]]:
    """Open a binary file that gets its name only once it is complete and on disk.

    If anything fails (a full disk, a kill), the old file is unchanged. A partial file is removed
    after an error, and overwritten by the next writer after a kill. A `shared` file may have
    several writers at once, each with a partial file of its own.
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
    """Make a rename durable; file systems that cannot sync a folder do not need it."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
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
    """Try to lock an open file or folder until it is closed; returns at once whether it worked."""
    import fcntl  # which Windows does not have

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # a network file system without locks
    return True


def cache_folder() -> Path:
    """The folder for caches: `UNSHORTCUT_CACHE`, or `unshortcut` in the user's cache folder."""
    given = os.environ.get("UNSHORTCUT_CACHE")
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "unshortcut"
