"""One command at a time for a folder: others see that it is busy and do something else first."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from unshortcut.files import try_lock


@contextmanager
def locked(folder: Path) -> Iterator[bool]:
    """Whether the folder is ours while the context lasts; it ends with the process at the latest.

    The folder is made if it is not there. Nobody waits: False means that another has it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield try_lock(descriptor)
    finally:
        os.close(descriptor)
