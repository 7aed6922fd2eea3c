"""Sources of encoded image files: the common part of folders, tar files and shards."""

import os
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from unshortcut.data.decode import EncodedImage
from unshortcut.data.source import BadImageError, Classes, ImageSource, Labels

HEADER_BYTES = 1 << 16
"""Nearly every header is shorter; the rest of a file is read only if it is not."""


class Names:
    """A list of strings in one block of memory, without an object for each.

    Forked workers share the memory, because reading an entry changes no reference count.
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
    """A source whose images are files; a subclass reads their bytes."""

    has_headers = True

    def __init__(self, names: Sequence[str], classes: Classes, labels: Labels) -> None:
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
        # A file name need not be valid text, but reports need text.
        return os.fsencode(self.names[index]).decode(errors="replace")

    def encoded(self, index: int) -> bytes:
        return self.read(index)

    def check_header(self, index: int) -> None:
        check_header(partial(self.read, index))


def check_header(read: Callable[[int | None], bytes]) -> None:
    """Raise `BadImageError` if the header cannot be read; `read` takes a limit in bytes."""
    start = read(HEADER_BYTES)
    try:
        EncodedImage(start)
    except BadImageError:
        if len(start) < HEADER_BYTES:
            raise
        EncodedImage(read(None))
