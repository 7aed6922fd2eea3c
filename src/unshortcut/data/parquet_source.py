"""Images in Parquet files, read in place by row group."""

import hashlib
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from unshortcut.data import blocks
from unshortcut.data.blocks import Blocks
from unshortcut.data.encoded import EncodedSource
from unshortcut.data.files import times_digest
from unshortcut.data.parquet_columns import (
    NO_LABEL,
    WRONG_LABEL,
    ParquetFile,
    number_labels,
    pyarrow_parquet,
)
from unshortcut.data.source import BadImageError

_OPEN_FILES = 16


class ParquetSource(EncodedSource):
    """The rows of Parquet files, in the order of the files.

    A row group is read as a whole, and kept until the row groups that were used since exceed
    `blocks.WINDOW_BYTES`; each process keeps its own. A row without an image, or with a label that
    no class has, is a bad image.

    Args:
        files: the files of a split.
        every: the files of all splits, whose classes count.
        names: what each file is called in the identity of an image, without a slash.
        split: the first folder in the identity of an image, if any.
    """

    blocks: Blocks

    def __init__(
        self,
        files: Sequence[ParquetFile],
        every: Sequence[ParquetFile],
        names: Sequence[str],
        split: str = "",
    ) -> None:
        self.files = tuple(files)
        groups = [len(file.group_rows) for file in files]
        rows = np.concatenate([file.group_rows for file in files])
        self._file = np.repeat(np.arange(len(files)), groups)
        self._group = np.concatenate([np.arange(count) for count in groups])
        self._starts = np.concatenate([[0], np.cumsum(rows)])
        numbers = np.repeat(np.arange(len(rows)), rows)
        self.blocks = Blocks(numbers, np.concatenate([file.group_bytes for file in files]))
        classes, labels = number_labels(files, every)
        self._bad: dict[int, str] = {}
        if labels is not None:
            wrong = f"its label is none of the {len(classes or ())} classes"
            reasons = {NO_LABEL: "it has no label, and others have one", WRONG_LABEL: wrong}
            self._bad = {int(row): reasons[int(labels[row])] for row in np.flatnonzero(labels < 0)}
            labels = np.maximum(labels, 0)  # these rows cannot be read, and count nowhere
        self.classes, self.labels = classes, labels
        self.names = _RowNames(self, tuple(names), split)  # type: ignore[assignment]
        self._cache = _Cache()

    def __len__(self) -> int:
        return int(self._starts[-1])

    @property
    def bad_labels(self) -> Collection[int]:
        """Indices of the rows without a label, or with one that no class has."""
        return self._bad.keys()

    def locate(self, index: int) -> tuple[int, int]:
        """The index of a row's file, and the row's number in it."""
        block = int(self.blocks.numbers[index])
        file = int(self._file[block])
        first = int(np.searchsorted(self._file, file))
        return file, index - int(self._starts[first])

    def read(self, index: int, limit: int | None = None) -> bytes:
        if index in self._bad:
            raise BadImageError(self._bad[index])
        block = int(self.blocks.numbers[index])
        file = self.files[int(self._file[block])]
        column = self._cache.column(file, int(self._group[block]), block)
        content = column[index - int(self._starts[block])].as_py()
        if content is None:
            raise BadImageError("the row has no bytes of an image")
        return bytes(content if limit is None else content[:limit])

    def fingerprint(self) -> str:
        """Over labels, and names, sizes and footers of the files, wherever they were copied to."""
        digest = hashlib.sha256(b"parquet")
        for numbers in (self._starts, self.labels):
            digest.update(b"" if numbers is None else numbers.tobytes())
        digest.update(repr(self.classes).encode())
        for file in self.files:
            state = f"{file.path.stat().st_size} {file.digest}"
            digest.update(f"{file.path.name} {file.image} {state}\0".encode())
        return digest.hexdigest()

    def modification_times(self) -> str:
        return times_digest(file.path for file in self.files)


class _RowNames:
    """Paths of the rows as if they were files: `train/cat/train-00000-of-00003-000012`.

    A copy that is written under these names is a folder with the same splits and classes.
    """

    def __init__(self, source: ParquetSource, names: tuple[str, ...], split: str) -> None:
        self.source = source
        self.files = names
        self.split = split

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, index: int) -> str:
        if not 0 <= index < len(self):
            raise IndexError(index)
        file, row = self.source.locate(index)
        parts = [self.split] if self.split else []
        classes, labels = self.source.classes, self.source.labels
        if classes is not None and labels is not None and index not in self.source.bad_labels:
            parts.append(_folder_name(classes[int(labels[index])]))
        return "/".join([*parts, f"{self.files[file]}-{row:06d}"])


class _Cache:
    """The row groups that a process has read last, for all of its threads."""

    def __init__(self) -> None:
        self._process = 0
        self._start()

    def column(self, file: ParquetFile, group: int, block: int) -> Any:
        """The bytes of the images of a row group, as an array of Arrow."""
        if self._process != os.getpid():
            self._start()  # the lock and the open files of a parent must not be used
        with self._lock:
            if block in self._columns:
                self._columns.move_to_end(block)
            else:
                size = int(file.group_bytes[group])
                self._make_room(size)
                self._columns[block] = self._read(file, group)
                self._sizes[block] = size
            return self._columns[block]

    def __reduce__(self) -> tuple[Any, ...]:
        return _Cache, ()

    def _start(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._columns: OrderedDict[int, Any] = OrderedDict()
        self._sizes: dict[int, int] = {}
        self._files: OrderedDict[str, Any] = OrderedDict()

    def _make_room(self, size: int) -> None:
        """Forget what was used least recently, so that a whole window fits and no more."""
        while self._columns and sum(self._sizes.values()) + size > blocks.WINDOW_BYTES:
            oldest, _ = self._columns.popitem(last=False)
            del self._sizes[oldest]

    def _read(self, file: ParquetFile, group: int) -> Any:
        import pyarrow.compute

        try:
            # One thread: a pool of Arrow's would not survive a fork.
            table = self._open(file).read_row_group(group, [file.image], use_threads=False)
            column = table.column(0)
            if file.image.endswith(".bytes") and file.image not in table.column_names:
                column = pyarrow.compute.struct_field(column, "bytes")
        except Exception as error:  # the reader can raise almost anything for a damaged file
            self._files.pop(str(file.path), None)
            reason = str(error).strip().splitlines()[0] if str(error).strip() else error
            raise BadImageError(f"its row group {group} cannot be read: {reason}") from None
        return column

    def _open(self, file: ParquetFile) -> Any:
        """An open file, whose footer is not parsed again for each row group."""
        key = str(file.path)
        if key not in self._files:
            self._files[key] = pyarrow_parquet().ParquetFile(file.path, pre_buffer=False)
            if len(self._files) > _OPEN_FILES:
                self._files.popitem(last=False)[1].close()
        self._files.move_to_end(key)
        return self._files[key]


def _folder_name(name: str) -> str:
    """The name of a class as that of a folder, which must neither be hidden nor lead elsewhere."""
    return re.sub(r"^\.", "_", re.sub(r"[/\0]", "_", name)) or "_"
