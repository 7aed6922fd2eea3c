"""Copies of a data set, such as a filtered one; an image's copy is found by the image's identity.

`unshortcut filter` and `unshortcut texturize` write copies, with file names from `copy_name`.
"""

import hashlib
import json
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Literal

import numpy as np

from unshortcut.data import tree
from unshortcut.data.decode import EncodedImage
from unshortcut.data.encoded import Names, check_header
from unshortcut.data.files import read_file
from unshortcut.data.folder import FolderSource, image_paths
from unshortcut.data.regions import Regions
from unshortcut.data.shards import expand, holds_samples, is_shard_pattern, open_shards, sample_key
from unshortcut.data.source import (
    BadImageError,
    DerivedSource,
    Image,
    ImageSource,
    Joined,
    require_same_size,
)
from unshortcut.data.tarfile_source import TarSource, is_tar, open_tree
from unshortcut.errors import UsageError

MANIFEST = "unshortcut.json"
"""Name of the file in a copy that records how it was made."""

Format = Literal["jpeg", "png"]
_ENDINGS: Mapping[Format, tuple[str, ...]] = {
    "jpeg": ("jpg", "jpeg", "jpe", "jfif"),
    "png": ("png",),
}


def copy_name(name: str, kind: Format) -> str:
    """The name of a file's copy: the file's own, plus an extension if the format differs.

    >>> copy_name("cat/1.JPG", "jpeg"), copy_name("cat/1.webp", "png")
    ('cat/1.JPG', 'cat/1.webp.png')
    """
    endings = _ENDINGS[kind]
    return name if tree.extension(name) in endings else f"{name}.{endings[0]}"


class CopiedImage(EncodedImage):
    """The copy of an image, for which a view plan may have other augmentations."""


class Copy(ABC):
    """A copy of a data set: its encoded images by the identity of their originals."""

    def __init__(self, where: str) -> None:
        self.where = where

    @abstractmethod
    def read(self, identity: str, limit: int | None = None) -> bytes:
        """The bytes of a copy, or the first `limit` of them. Raises `BadImageError`."""

    @abstractmethod
    def fingerprint(self) -> str:
        """A hex digest that changes when the content does."""

    @abstractmethod
    def modification_times(self) -> str:
        """As for an image source."""

    def image(self, identity: str) -> CopiedImage:
        """The copy of an image. Raises `BadImageError`."""
        return CopiedImage(self.read(identity))

    def missing(self) -> BadImageError:
        return BadImageError(f"it has no copy in {Path(self.where).name}")


class FolderCopy(Copy):
    """A folder with the original's tree of files; it is not listed in advance."""

    def read(self, identity: str, limit: int | None = None) -> bytes:
        for name in _candidates(identity):
            path = Path(self.where) / name
            if path.is_file():
                return read_file(path, limit)
        raise self.missing()

    def fingerprint(self) -> str:
        return self._files().fingerprint()

    def modification_times(self) -> str:
        return self._files().modification_times()

    def _files(self) -> FolderSource:
        root = Path(self.where)
        return FolderSource(root, image_paths(root))


class TarCopy(Copy):
    """A tar file with the original's tree of files, or shards named like the original's.

    `key` gives the part of a name by which a copy is found; in shards it is that of the sample.
    """

    def __init__(self, where: str, source: TarSource, key: Callable[[str], str] = str) -> None:
        super().__init__(where)
        self.source = source
        self.key = key
        self.index = _NameIndex([key(source.identity(i)) for i in range(len(source))])

    def read(self, identity: str, limit: int | None = None) -> bytes:
        for name in _candidates(identity):
            index = self.index.find(self.key(name))
            if index is not None:
                return self.source.read(index, limit)
        raise self.missing()

    def fingerprint(self) -> str:
        return self.source.fingerprint()

    def modification_times(self) -> str:
        return self.source.modification_times()


class _NameIndex:
    """Indices by name in a few bytes each, in memory that forked workers share."""

    def __init__(self, names: Sequence[str]) -> None:
        order = sorted(range(len(names)), key=names.__getitem__)
        self._names = Names([names[i] for i in order])
        self._order = np.array(order, dtype=np.int64)

    def find(self, name: str) -> int | None:
        rank = bisect_left(self._names, name)
        if rank < len(self._names) and self._names[rank] == name:
            return int(self._order[rank])
        return None


@lru_cache(maxsize=8)
def open_copy(where: str) -> Copy:
    """Open a copy: a folder, a tar file of one, or shards. Raises `UsageError`."""
    if not where:
        raise UsageError("views are made from a copy of the data set, but its path is not given")
    path = Path(where).expanduser()
    if path.is_dir():
        _check_manifest(path)
        return FolderCopy(str(path))
    if is_shard_pattern(where):
        shards = expand(where)
        _check_manifest(shards[0].parent)
        return TarCopy(where, open_shards(shards), sample_key)
    if not path.is_file() or not is_tar(path):
        raise UsageError(
            f"there is no copy of a data set at {where}: neither a folder nor a tar file"
        )
    _check_manifest(path.parent)
    if holds_samples(path):
        return TarCopy(where, open_shards([path]), sample_key)
    return TarCopy(where, open_tree(path))


class CopiedSource(DerivedSource):
    """The copies of a source's images, in its order, with its labels and annotations."""

    def __init__(self, source: ImageSource, copy: Copy) -> None:
        super().__init__(source)
        self.copy = copy
        self.has_headers = True

    def image(self, index: int) -> Image:
        return self.copy.image(self.source.identity(index))

    def encoded(self, index: int) -> bytes:
        return self.copy.read(self.source.identity(index))

    def regions(self, index: int) -> Regions:
        regions = super().regions(index)
        if regions.boxes is not None or regions.mask is not None:
            require_same_size(self.image(index), self.source.image(index))
        return regions

    def identity(self, index: int) -> str:
        return f"{Path(self.copy.where).name}/{self.source.identity(index)}"

    def check_header(self, index: int) -> None:
        check_header(partial(self.copy.read, self.source.identity(index)))

    def fingerprint(self) -> str:
        both = f"{self.source.fingerprint()} {self.copy.fingerprint()}"
        return hashlib.sha256(both.encode()).hexdigest()

    def modification_times(self) -> str:
        return f"{self.source.modification_times()} {self.copy.modification_times()}"


class SameSizeCopies(CopiedSource):
    """Copies that must have the size of their originals; another size is a `BadImageError`."""

    def image(self, index: int) -> Image:
        copy = super().image(index)
        require_same_size(copy, self.source.image(index))
        return copy


def with_filtered_copy(source: ImageSource, where: str) -> Joined:
    """The images of a source, followed by their copies."""
    return Joined(source, CopiedSource(source, open_copy(where)))


class ImageWithCopies:
    """An image whose variants are its copies in other data sets, by their paths."""

    def __init__(self, image: Image, identity: str, copies: Mapping[str, Copy]) -> None:
        self.height, self.width, self.pixels = image.height, image.width, image.pixels
        self.identity = identity
        self.copies = copies

    def variant(self, name: str) -> Image:
        return self.copies[name].image(self.identity)


class WithCopies(DerivedSource):
    """A source whose images have their copies as variants."""

    def __init__(self, source: ImageSource, copies: Mapping[str, Copy]) -> None:
        super().__init__(source)
        self.copies = copies

    def image(self, index: int) -> ImageWithCopies:
        return ImageWithCopies(self.source.image(index), self.identity(index), self.copies)


def _check_manifest(folder: Path) -> None:
    """Refuse a folder whose manifest says that it is not a copy, or not yet complete."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return  # a copy that another tool has made
    if not isinstance(manifest, dict):
        return
    if manifest.get("keep_originals") or manifest.get("double"):  # its name in older versions
        raise UsageError(
            f"{folder} is a doubled set, which contains the originals as well: use it as the data, "
            "not as a copy of them"
        )
    if manifest.get("finished") is False:
        raise UsageError(
            f"{folder} is not finished; run the command that makes it again to complete it"
        )


def _candidates(identity: str) -> tuple[str, ...]:
    """Names under which the copy of an image may be found."""
    return identity, *(f"{identity}.{endings[0]}" for endings in _ENDINGS.values())
