"""The images of the data set to copy: a tree of single images, or shards."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.data.annotated_layout import AnnotatedLayout
from unshortcut.data.decode import EncodedImage
from unshortcut.data.encoded import EncodedSource
from unshortcut.data.folder import FolderSource, image_paths, open_folder
from unshortcut.data.layout import recognized
from unshortcut.data.layouts.parquet import ParquetFiles
from unshortcut.data.layouts.subset import SubsetLayout
from unshortcut.data.named import NAMES, named_splits
from unshortcut.data.naming import Data
from unshortcut.data.open import DataSpec, open_data, prefixed, splits
from unshortcut.data.parquet_columns import is_parquet
from unshortcut.data.parquet_source import ParquetSource
from unshortcut.data.shards import expand, holds_samples, is_shard_pattern
from unshortcut.data.source import BadImageError, ImageSource, Joined
from unshortcut.data.tarfile_source import TarSource, is_tar, open_tar, open_tree
from unshortcut.errors import UsageError


class Tree(Joined):
    """Images with their paths, from a folder, a tar file or a named data set.

    `name` is written to the manifest; it contains no private path.
    """

    def __init__(self, name: str, *sources: ImageSource) -> None:
        super().__init__(*sources)
        self.name = name

    def path(self, index: int) -> str:
        """The path of an image in the tree, as the file system spells it."""
        source, position = self.locate(index)
        if isinstance(source, EncodedSource):
            return source.names[position]
        return source.identity(position)

    def load(self, index: int) -> tuple[ImageArray, bytes | None]:
        """The pixels of an image and the content of its file, if any. Raises `BadImageError`."""
        source, position = self.locate(index)
        if isinstance(source, EncodedSource):
            content = source.read(position)
            return EncodedImage(content).pixels(), content
        return source.image(position).pixels(), None

    def size(self, index: int) -> int | None:
        """Size of an image's file in bytes; None without a file or if it cannot be read."""
        source, position = self.locate(index)
        if isinstance(source, TarSource):
            return int(source.sizes[position])
        if isinstance(source, FolderSource):
            try:
                return (source.root / source.names[position]).stat().st_size
            except OSError:
                return None
        if isinstance(source, ParquetSource):
            try:
                return len(source.read(position))
            except BadImageError:
                return None
        return None

    def modified(self, index: int) -> int:
        """When the file of an image was last written, in nanoseconds; 0 if unknown."""
        source, position = self.locate(index)
        try:
            if isinstance(source, TarSource):
                return source.archives[int(source.archive[position])].stat().st_mtime_ns
            if isinstance(source, FolderSource):
                return (source.root / source.names[position]).stat().st_mtime_ns
            if isinstance(source, ParquetSource):
                return source.files[source.locate(position)[0]].path.stat().st_mtime_ns
        except OSError:
            pass  # reading the image will report the error
        return 0

    def has_files(self, index: int) -> bool:
        """Whether an image is a file, as opposed to generated or held in memory."""
        return isinstance(self.locate(index)[0], EncodedSource)

    def disk_paths(self) -> Iterator[Path]:
        """Every folder and file that is read from disk."""
        for source in self.sources:
            if isinstance(source, FolderSource):
                yield source.root
                folders = {os.path.dirname(source.names[i]) for i in range(len(source))}  # noqa: PTH120
                yield from (source.root / folder for folder in folders)
            elif isinstance(source, TarSource):
                yield from source.archives
            elif isinstance(source, ParquetSource):
                yield from (file.path for file in source.files)


@dataclass(frozen=True)
class Shards:
    """Tar files in webdataset's convention, each read and written as a whole."""

    name: str
    paths: tuple[Path, ...]

    def __len__(self) -> int:
        return len(self.paths)

    def disk_paths(self) -> Iterator[Path]:
        return iter(self.paths)


def open_inputs(data: Data) -> Tree | Shards:
    """All images of a data set: every split, unless the spec names one."""
    if isinstance(data, ImageSource):
        return Tree(type(data).__name__, data)
    spec = DataSpec.parse(data)
    if spec.where in NAMES:
        return Tree(str(spec), *_named(spec))
    prefix, rest = prefixed(spec.where)
    if prefix is not None:
        return Tree(str(DataSpec(f"{prefix}:{Path(rest).name}", spec.split)), *_parts(spec))
    # Workers on a cluster have other working directories.
    path = Path(spec.where).expanduser().absolute()
    name = str(DataSpec(path.resolve().name, spec.split))
    absolute = DataSpec(str(path), spec.split)
    if is_shard_pattern(spec.where):
        paths = expand(str(path))
        if paths[0].suffix == ".parquet":
            return Tree(name, open_data(str(absolute)))
        return _shards(name, paths, spec)
    if path.is_dir():
        layout = recognized(path)
        if isinstance(layout, AnnotatedLayout | ParquetFiles | SubsetLayout):
            # Masks are no images to copy, rows are no files, and a subset has none in its folder.
            return Tree(name, *_parts(DataSpec(f"{layout.name}:{path}", spec.split)))
        return Tree(name, _folder(path, spec.split))
    if path.is_file() and is_tar(path):
        if holds_samples(path):
            return _shards(name, [path], spec)
        return Tree(name, open_tar(path, spec.split) if spec.split else open_tree(path))
    if path.is_file() and is_parquet(path):
        return Tree(name, open_data(str(absolute)))
    return Tree(name, open_data(data))  # raises the error that explains what is wrong


def _named(spec: DataSpec) -> list[ImageSource]:
    # STL-10's train+unlabeled would repeat train and unlabeled.
    every = [split for split in named_splits(spec.where) if "+" not in split]
    return [open_data(spec.where, split=split) for split in ([spec.split] if spec.split else every)]


def _parts(spec: DataSpec) -> list[ImageSource]:
    """Every split of a spec with a prefix, unless it names one; images of two splits come once."""
    where = _absolute(spec.where)
    every: Sequence[str | None] = [spec.split] if spec.split else splits(where) or [None]
    return list(_once(open_data(where, split=split) for split in every))


def _absolute(where: str) -> str:
    """A spec whose path, if it has one, is absolute."""
    prefix, rest = prefixed(where)
    if prefix is not None:
        return f"{prefix}:{_absolute(rest)}"
    return where if where in NAMES else str(Path(where).expanduser().absolute())


def _once(sources: Iterable[ImageSource]) -> Iterator[ImageSource]:
    """Sources without the files that an earlier one has."""
    seen: set[str] = set()
    for source in sources:
        if not isinstance(source, FolderSource):
            yield source
            continue
        names = [source.names[index] for index in range(len(source))]
        new = np.array([row for row, name in enumerate(names) if name not in seen], dtype=np.int64)
        seen.update(names)
        if len(new) == len(names):
            yield source
        elif len(new):
            yield source.take(new)


def _folder(path: Path, split: str | None) -> FolderSource:
    if split is not None:
        return open_folder(path, split)
    names = image_paths(path)
    if not names:
        raise UsageError(f"no images in the folder {path}")
    return FolderSource(path, names)


def _shards(name: str, paths: list[Path], spec: DataSpec) -> Shards:
    if spec.split is not None:
        raise UsageError(f"shards have no splits; give the shards of '{spec.split}' instead")
    known: dict[str, Path] = {}
    for path in paths:
        if not path.is_file():
            raise UsageError(f"no such shard: {path}")
        if not is_tar(path):
            raise UsageError(f"{path} is not a tar file, so it cannot be a shard")
        if path.name in known:
            raise UsageError(f"{known[path.name]} and {path} would both become {path.name}")
        known[path.name] = path
    return Shards(name, tuple(paths))
