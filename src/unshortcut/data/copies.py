"""Copies of a data set, image by image: a copy is found by the identity of its original.

`unshortcut filter` and `unshortcut texturize` write them, with the names that `copy_name` gives.
"""

import hashlib
import json
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Literal

import numpy as np

from unshortcut.data import tree
from unshortcut.data.decode import EncodedImage
from unshortcut.data.encoded import Names, check_header
from unshortcut.data.folder import FolderSource, image_paths, read_file
from unshortcut.data.joined import Joined
from unshortcut.data.shards import expand, holds_samples, is_shard_pattern, open_shards, sample_key
from unshortcut.data.source import BadImageError, Image, ImageSource
from unshortcut.data.tarfile_source import TarSource, is_tar, open_tree
from unshortcut.errors import UsageError

MANIFEST = "unshortcut.json"
"""The file in a copy that says how it was made."""

Format = Literal["jpeg", "png"]
_ENDINGS: Mapping[Format, tuple[str, ...]] = {
    "jpeg": ("jpg", "jpeg", "jpe", "jfif"),
    "png": ("png",),
}


def copy_name(name: str, kind: Format) -> str:
    """What the copy of a file is called: as the file, with an ending added where it says another.

    >>> copy_name("cat/1.JPG", "jpeg"), copy_name("cat/1.webp", "png")
    ('cat/1.JPG', 'cat/1.webp.png')
    """
    endings = _ENDINGS[kind]
    return name if tree.extension(name) in endings else f"{name}.{endings[0]}"


class Copy(ABC):
    """The copy of a data set: the encoded images of it by the identity of their originals."""

    def __init__(self, where: str) -> None:
        self.where = where

    @abstractmethod
    def read(self, identity: str, limit: int | None = None) -> bytes:
        """The bytes of a copy, or the first `limit` of them. Raises `BadImageError`."""

    @abstractmethod
    def fingerprint(self) -> str:
        """A hex digest that changes when the content does."""

    def image(self, identity: str) -> Image:
        """The copy of an image. Raises `BadImageError`."""
        return EncodedImage(self.read(identity))

    def missing(self) -> BadImageError:
        return BadImageError(f"it has no copy in {Path(self.where).name}")


class FolderCopy(Copy):
    """A folder that mirrors the tree of the original; nothing of it is listed beforehand."""

    def read(self, identity: str, limit: int | None = None) -> bytes:
        for name in _candidates(identity):
            path = Path(self.where) / name
            if path.is_file():
                return read_file(path, limit)
        raise self.missing()

    def fingerprint(self) -> str:
        root = Path(self.where)
        return FolderSource(root, image_paths(root), None, None).fingerprint()


class TarCopy(Copy):
    """A tar file that mirrors the tree of the original."""

    def __init__(self, where: str, source: TarSource) -> None:
        super().__init__(where)
        self.source = source
        self.places = _Places([source.identity(index) for index in range(len(source))])

    def read(self, identity: str, limit: int | None = None) -> bytes:
        for name in _candidates(identity):
            place = self.places.find(name)
            if place is not None:
                return self.source.read(place, limit)
        raise self.missing()

    def fingerprint(self) -> str:
        return self.source.fingerprint()


class ShardsCopy(Copy):
    """Shards with the names of the original's; a sample is found by its key."""

    def __init__(self, where: str, source: TarSource) -> None:
        super().__init__(where)
        self.source = source
        self.places = _Places([sample_key(source.identity(i)) for i in range(len(source))])

    def read(self, identity: str, limit: int | None = None) -> bytes:
        place = self.places.find(sample_key(identity))
        if place is None:
            raise self.missing()
        return self.source.read(place, limit)

    def fingerprint(self) -> str:
        return self.source.fingerprint()


class _Places:
    """Positions by name in a few bytes each, which forked workers share; a dict they would copy."""

    def __init__(self, names: Sequence[str]) -> None:
        order = sorted(range(len(names)), key=names.__getitem__)
        self._names = Names([names[i] for i in order])
        self._order = np.array(order, dtype=np.int64)

    def find(self, name: str) -> int | None:
        place = bisect_left(self._names, name)
        if place < len(self._names) and self._names[place] == name:
            return int(self._order[place])
        return None


@lru_cache(maxsize=8)
def open_copy(where: str) -> Copy:
    """The copy at a place: a folder, a tar file of one, or shards. Raises `UsageError`."""
    if not where:
        raise UsageError("a copy of the data set is asked for, and its path is not given")
    path = Path(where).expanduser()
    if path.is_dir():
        _check_manifest(path)
        return FolderCopy(str(path))
    if is_shard_pattern(where):
        shards = expand(where)
        _check_manifest(shards[0].parent)
        return ShardsCopy(where, open_shards(shards))
    if not path.is_file() or not is_tar(path):
        raise UsageError(f"there is no copy of a data set at {where}: no folder, no tar file")
    _check_manifest(path.parent)
    if holds_samples(path):
        return ShardsCopy(where, open_shards([path]))
    return TarCopy(where, open_tree(path))


def open_beside(copy: Copy, identity: str, image: Image) -> Image:
    """The copy of an image, which must have its size. Raises `BadImageError`."""
    found = copy.image(identity)
    if (found.height, found.width) != (image.height, image.width):
        raise BadImageError(
            f"its copy is {found.width} × {found.height} pixels, "
            f"it is {image.width} × {image.height}"
        )
    return found


class Copied(ImageSource):
    """The copies of a source's images, in its order and with its labels."""

    has_headers = True

    def __init__(self, source: ImageSource, copy: Copy) -> None:
        self.source = source
        self.copy = copy
        self.classes = source.classes
        self.labels = source.labels

    def __len__(self) -> int:
        return len(self.source)

    def image(self, index: int) -> Image:
        return self.copy.image(self.source.identity(index))

    def identity(self, index: int) -> str:
        return f"{Path(self.copy.where).name}/{self.source.identity(index)}"

    def check_header(self, index: int) -> None:
        check_header(partial(self.copy.read, self.source.identity(index)))

    def fingerprint(self) -> str:
        both = f"{self.source.fingerprint()} {self.copy.fingerprint()}"
        return hashlib.sha256(both.encode()).hexdigest()


class CopiedAlike(Copied):
    """The same, where a copy must have the size of its original."""

    def image(self, index: int) -> Image:
        return open_beside(self.copy, self.source.identity(index), self.source.image(index))


def doubled(source: ImageSource, where: str) -> Joined:
    """A source and its copy, as the papers double their data: first the images, then the copies."""
    return Joined(source, Copied(source, open_copy(where)))


def _check_manifest(folder: Path) -> None:
    """Refuse a folder that is no copy, or not yet a whole one, by what it says of itself."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return  # a copy that was made otherwise
    if not isinstance(manifest, dict):
        return
    if manifest.get("keep_originals"):
        raise UsageError(
            f"{folder} is a doubled set, which holds the originals too: it is no copy to put "
            "beside the data, but data of its own"
        )
    if manifest.get("finished") is False:
        raise UsageError(f"{folder} is not finished: the command that makes it goes on with it")


def _candidates(identity: str) -> tuple[str, ...]:
    """Names that the copy of an image may have."""
    return identity, *(f"{identity}.{endings[0]}" for endings in _ENDINGS.values())
