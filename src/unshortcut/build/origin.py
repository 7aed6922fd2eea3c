"""Where the images of a new data set come from: a tree of single images, or shards.

Workers need these, and not what it takes to open a data set by its name.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.data.decode import EncodedImage
from unshortcut.data.encoded import EncodedSource
from unshortcut.data.folder import FolderSource
from unshortcut.data.source import ImageSource
from unshortcut.data.tarfile_source import TarSource


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

    def load(self, index: int) -> tuple[ImageArray, bytes | None]:
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

    def modified(self, index: int) -> int:
        """When the file of an image was last written, in nanoseconds; 0 where nothing tells."""
        source, place = self._place(index)
        try:
            if isinstance(source, TarSource):
                return source.archives[int(source.archive[place])].stat().st_mtime_ns
            if isinstance(source, FolderSource):
                return (source.root / source.names[place]).stat().st_mtime_ns
        except OSError:
            pass  # what reads it will say so
        return 0

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
