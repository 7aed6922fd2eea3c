"""Parquet files of images in a folder, as dataset hubs export them."""

import os
import re
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from unshortcut.data.layout import Layout
from unshortcut.data.parquet_columns import ParquetFile, read_footer
from unshortcut.data.parquet_source import ParquetSource
from unshortcut.data.split_folders import EVERYTHING
from unshortcut.data.tree import is_hidden
from unshortcut.errors import UsageError

_SHARD = re.compile(r"(?P<split>.+?)[-_](?P<number>\d+)-of-(?P<count>\d+)(-[0-9a-f]+)?")
"""`train-00000-of-00003`; older exports have a digest at the end."""
_STANDARD = re.compile(r"(train|val|validation|valid|test)(?![a-z])", re.IGNORECASE)
_ORDER = ("train", "val", "test")


class ParquetFiles(Layout):
    """`train-00000-of-00003.parquet`, …, also in `data/` or in a folder for each split.

    The column of images has the bytes of image files, or structs of `bytes` and `path`. The column
    of labels has numbers, whose names the schema states, or names.
    """

    name: ClassVar[str] = "parquet"

    @classmethod
    def recognizes(cls, root: Path) -> bool:
        found = _files(root)
        if not found:
            return False
        if any(_SHARD.fullmatch(path.stem) for path in found):
            return True
        try:
            read_footer(found[0])
        except UsageError:
            return False  # a table beside images, for example one of features
        return True

    def splits(self) -> tuple[str, ...]:
        return tuple(self._by_split())

    def images(self, split: str) -> ParquetSource:
        by_split = self._by_split()
        every = [_footer(path) for paths in by_split.values() for path in paths]
        files = [_footer(path) for path in by_split[split]]
        named = "" if split == EVERYTHING else split
        return _source(files, every, self.root, named)

    def _by_split(self) -> dict[str, list[Path]]:
        found: dict[str, list[Path]] = {}
        for path in _files(self.root):
            found.setdefault(split_of(path.relative_to(self.root)), []).append(path)
        if not found:
            raise self.broken("there is no file that ends in .parquet")
        for split, paths in found.items():
            _warn_of_missing(split, paths)
        return {split: found[split] for split in sorted(found, key=_rank)}


def open_parquet(paths: Sequence[Path]) -> ParquetSource:
    """The images of some files, in their order."""
    for path in paths:
        if not path.is_file():
            raise UsageError(f"no such shard: {path}")
    files = [_footer(path) for path in paths]
    return _source(files, files, paths[0].parent, "")


def split_of(path: Path) -> str:
    """The split of a file, by its name or by that of its folder.

    >>> split_of(Path("data/train-00000-of-00003.parquet")), split_of(Path("test/0000.parquet"))
    ('train', 'test')
    """
    shard = _SHARD.fullmatch(path.stem)
    if shard is not None:
        return _short(shard["split"])
    for name in (path.stem, *reversed(path.parent.parts)):
        found = _STANDARD.match(name)
        if found is not None:
            return _short(found[1].lower())
    return EVERYTHING


def _source(
    files: Sequence[ParquetFile], every: Sequence[ParquetFile], root: Path, split: str
) -> ParquetSource:
    if not sum(int(file.group_rows.sum()) for file in files):
        raise UsageError(f"no images in {', '.join(str(file.path) for file in files[:3])}")
    names = []
    for file in files:
        inside = file.path.relative_to(root) if file.path.is_relative_to(root) else file.path
        folders = [part for part in inside.parent.parts if part not in ("data", split, "/", "..")]
        names.append("-".join([*folders, file.path.stem]))
    return ParquetSource(files, every, names, split)


def _files(root: Path) -> list[Path]:
    """The Parquet files in a folder, in its `data/`, and in folders of splits, by path."""
    folders = [root, root / "data"]
    folders += [path for folder in folders for path in sorted(_entries(folder, _is_split))]
    found = (path for folder in folders for path in _entries(folder, _is_parquet_name))
    return sorted(path for path in found if path.is_file())


def _entries(folder: Path, wanted: Callable[[str], bool]) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [folder / one.name for one in entries if wanted(one.name)]
    except OSError:
        return []


def _is_split(name: str) -> bool:
    return _STANDARD.fullmatch(name) is not None


def _is_parquet_name(name: str) -> bool:
    return name.endswith(".parquet") and not is_hidden(name)


def _footer(path: Path) -> ParquetFile:
    status = path.stat()
    return _known_footer(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=4096)
def _known_footer(path: Path, size: int, modified: int) -> ParquetFile:
    """The footer for a state of the file, so that opening several splits reads it once."""
    return read_footer(path)


def _short(split: str) -> str:
    return "val" if split in ("valid", "validation") else split


def _rank(split: str) -> tuple[int, str]:
    return (_ORDER.index(split) if split in _ORDER else len(_ORDER)), split


def _warn_of_missing(split: str, paths: Sequence[Path]) -> None:
    """Warn if a file of a numbered series is not there."""
    shards = [shard for path in paths if (shard := _SHARD.fullmatch(path.stem)) is not None]
    count = max((int(shard["count"]) for shard in shards), default=0)
    missing = sorted(set(range(count)) - {int(shard["number"]) for shard in shards})
    if missing:
        warnings.warn(
            f"the split {split} has {count - len(missing)} of its {count} Parquet files; number "
            f"{missing[0]} is missing",
            stacklevel=2,
        )
