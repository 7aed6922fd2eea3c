"""Images that lie encoded in files: what folders, tar files and shards have in common."""

import os
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from unshortcut.data.decode import EncodedImage
from unshortcut.data.source import BadImageError, ImageSource

HEADER_BYTES = 1 << 16
"""Nearly every header ends within these; the rest of a file is read only where it does not."""


class Names:
    """Many strings in one block of memory: a million paths cost their bytes and no objects.

    Workers that are forked share it, because nothing in it has a reference count to touch.
    """

    def __init__(self, names: Sequence[str]) -> None:
        encoded = [os.fsencode(name) for name in names]
        self._bytes = b"".join(encoded)
        self._ends = np.cumsum([len(name) for name in encoded], dtype=np.int64)

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, index: int) -> str:
        if not 0 <= index < len(self):
            raise IndexError(index)
        start = int(self._ends[index - 1]) if index else 0
        return os.fsdecode(self._bytes[start : int(self._ends[index])])


class EncodedSource(ImageSource):
    """A source whose images are files; a subclass says where their bytes are."""

    has_headers = True

    def __init__(
        self,
        names: Sequence[str],
        classes: tuple[str, ...] | None,
        labels: NDArray[np.int64] | None,
    ) -> None:
        self.names = Names(names)
        self.classes = classes
        self.labels = labels

    @abstractmethod
    def read(self, index: int, limit: int | None = None) -> bytes:
        """The bytes of a file, or the first `limit` of them. Raises `BadImageError`."""

    def __len__(self) -> int:
        return len(self.names)

    def image(self, index: int) -> EncodedImage:
        return EncodedImage(self.read(index))

    def identity(self, index: int) -> str:
        # A name on disk need not be text; what a person reads and a report stores must be.
        return os.fsencode(self.names[index]).decode(errors="replace")

    def check_header(self, index: int) -> None:
        check_header(partial(self.read, index))


def check_header(read: Callable[[int | None], bytes]) -> None:
    """Raise `BadImageError` where the header cannot be read; `read` takes a limit in bytes."""
    start = read(HEADER_BYTES)
    try:
        EncodedImage(start)
    except BadImageError:
        if len(start) < HEADER_BYTES:
            raise
        EncodedImage(read(None))
