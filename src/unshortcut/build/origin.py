"""Where the images of a new data set come from: a tree of single images, or shards."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unshortcut.data.decode import EncodedImage
from unshortcut.data.encoded import EncodedSource
from unshortcut.data.folder import FolderSource, image_paths, open_folder
from unshortcut.data.named import NAMES, named_splits
from unshortcut.data.open import DataSpec, open_data
from unshortcut.data.shards import expand, holds_samples, is_shard_pattern
from unshortcut.data.source import Array, ImageSource
from unshortcut.data.tarfile_source import TarSource, is_tar, open_tar, open_tree
from unshortcut.errors import UsageError

Data = str | Path | ImageSource


class Tree:
    """Images with their paths in a tree: of a folder, of a tar file, of a data set by name."""

    def __init__(self, name: str, *sources: ImageSource) -> None:
        self.name = name
        """What names the data set to anyone: no folder that only its owner knows."""
        self.sources = sources
        self._ends = np.cumsum([len(source) for source in sources])

    def __len__(self) -> int:
        return int(self._ends[-1])

    def path(self, index: int) -> str:
        """The path of an image in the tree, as the file system has it."""
        source, place = self._place(index)
        if isinstance(source, EncodedSource):
            return source.names[place]
        return source.identity(place)

    def identity(self, index: int) -> str:
        """The path of an image as text, also where a name on disk is none."""
        source, place = self._place(index)
        return source.identity(place)

    def load(self, index: int) -> tuple[Array, bytes | None]:
        """The pixels of an image, and its file, if it has one. Raises `BadImageError`."""
        source, place = self._place(index)
        if isinstance(source, EncodedSource):
            content = source.read(place)
            return EncodedImage(content).pixels(), content
        return source.image(place).pixels(), None

    def size(self, index: int) -> int | None:
        """The bytes of an image's file, None where it has no file or cannot be read."""
        source, place = self._place(index)
        if isinstance(source, TarSource):
            return int(source.sizes[place])
        if isinstance(source, FolderSource):
            try:
                return (source.root / source.names[place]).stat().st_size
            except OSError:
                return None
        return None

    def has_files(self, index: int) -> bool:
        """Whether an image is a file, and not drawn or kept in memory."""
        return isinstance(self._place(index)[0], EncodedSource)

    def places(self) -> Iterator[Path]:
        """Every folder and file on disk that is read."""
        for source in self.sources:
            if isinstance(source, FolderSource):
                yield source.root
                folders = {os.path.dirname(source.names[i]) for i in range(len(source))}  # noqa: PTH120
                yield from (source.root / folder for folder in folders)
            elif isinstance(source, TarSource):
                yield from source.archives

    def _place(self, index: int) -> tuple[ImageSource, int]:
        number = int(np.searchsorted(self._ends, index, side="right"))
        return self.sources[number], index - (int(self._ends[number - 1]) if number else 0)


@dataclass(frozen=True)
class Shards:
    """Tar files in webdataset's convention, each read and written as a whole."""

    name: str
    paths: tuple[Path, ...]

    def __len__(self) -> int:
        return len(self.paths)

    def places(self) -> Iterator[Path]:
        return iter(self.paths)


def open_origin(data: Data) -> Tree | Shards:
    """All images that a spec names: every split of it, unless it names one itself."""
    if isinstance(data, ImageSource):
        return Tree(type(data).__name__, data)
    spec = DataSpec.parse(data)
    if spec.where in NAMES:
        return Tree(str(spec), *_named(spec))
    # Workers on a cluster start in folders of their own.
    path = Path(spec.where).expanduser().absolute()
    name = str(DataSpec(path.resolve().name, spec.split))
    if is_shard_pattern(spec.where):
        return _shards(name, expand(str(path)), spec)
    if path.is_dir():
        return Tree(name, _folder(path, spec.split))
    if path.is_file() and is_tar(path):
        if holds_samples(path):
            return _shards(name, [path], spec)
        return Tree(name, open_tar(path, spec.split) if spec.split else open_tree(path))
    return Tree(name, open_data(data))  # which says what is wrong with it


def _named(spec: DataSpec) -> list[ImageSource]:
    # STL-10's train+unlabeled is there already, as train and as unlabeled.
    every = [split for split in named_splits(spec.where) if "+" not in split]
    return [open_data(spec.where, split=split) for split in ([spec.split] if spec.split else every)]


def _folder(path: Path, split: str | None) -> FolderSource:
    if split is not None:
        return open_folder(path, split)
    names = image_paths(path)
    if not names:
        raise UsageError(f"no images in the folder {path}")
    return FolderSource(path, names, None, None)


def _shards(name: str, paths: list[Path], spec: DataSpec) -> Shards:
    if spec.split is not None:
        raise UsageError(f"shards have no splits: name those of '{spec.split}' instead")
    seen: dict[str, Path] = {}
    for path in paths:
        if not path.is_file() or not is_tar(path):
            raise UsageError(f"no such shard: {path}")
        if path.name in seen:
            raise UsageError(f"{seen[path.name]} and {path} would both become {path.name}")
        seen[path.name] = path
    return Shards(name, tuple(paths))
