"""Files of a data set: their bytes, and what they are known by."""

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from unshortcut.data.encoded import Names
from unshortcut.data.source import BadImageError
from unshortcut.randomness import generator

_SAMPLED_FILES = 256
_SAMPLED_BYTES = 1 << 16


def read_file(path: Path, limit: int | None = None) -> bytes:
    """The bytes of a file, or the first `limit` of them. Raises `BadImageError`."""
    try:
        with path.open("rb") as file:
            return file.read(-1 if limit is None else limit)
    except OSError as error:
        raise BadImageError(f"cannot be read: {error.strerror}") from None


def files_digest(root: Path, names: Names) -> str:
    """A digest of the paths and sizes of all files, and of the first bytes of some.

    Modification times do not count: folders are copied to the disks of other machines, and a run
    goes on there.
    """
    digest = hashlib.sha256()
    for index in range(len(names)):
        name = names[index]
        digest.update(os.fsencode(name) + b"\0")
        with suppress(OSError):
            digest.update(f"{(root / name).stat().st_size}\0".encode())
    order = generator("fingerprint", len(names)).permutation(len(names))
    for index in order[:_SAMPLED_FILES]:
        with suppress(BadImageError):
            digest.update(read_file(root / names[int(index)], _SAMPLED_BYTES))
    return digest.hexdigest()


def times_digest(paths: Iterable[Path]) -> str:
    """A digest of the modification times of files."""
    digest = hashlib.sha256()
    for path in paths:
        with suppress(OSError):
            digest.update(f"{path.stat().st_mtime_ns}\0".encode())
    return digest.hexdigest()
