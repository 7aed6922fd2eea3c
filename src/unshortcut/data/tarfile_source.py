"""Images in tar files, read in place: nothing is unpacked to disk."""

import hashlib
import os
import tarfile
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from unshortcut.arrays import IndexArray
from unshortcut.data import tree
from unshortcut.data.encoded import EncodedSource
from unshortcut.data.files import times_digest
from unshortcut.data.source import BadImageError, Classes, Labels
from unshortcut.errors import UsageError
from unshortcut.randomness import generator

_COMPRESSED = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
_MAGIC = slice(257, 262)
_FINGERPRINT_SAMPLES = 256
_FINGERPRINT_BYTES = 4096


class Member(NamedTuple):
    """A regular file in a tar file: its path and the location of its bytes."""

    name: str
    offset: int
    size: int


class TarSource(EncodedSource):
    """Images at known offsets in one or several tar files.

    A file is opened for each read, which takes microseconds, so that no descriptor is shared
    between threads, forked workers and pickled copies.
    """

    def __init__(
        self,
        archives: Sequence[Path],
        archive: IndexArray,
        members: Sequence[Member],
        classes: Classes = None,
        labels: Labels = None,
    ) -> None:
        super().__init__([member.name for member in members], classes, labels)
        self.archives = tuple(archives)
        self.archive = archive
        """(N,): the index of the tar file that holds each image."""
        self.offsets = np.array([member.offset for member in members], dtype=np.int64)
        self.sizes = np.array([member.size for member in members], dtype=np.int64)

    def read(self, index: int, limit: int | None = None) -> bytes:
        size = int(self.sizes[index])
        wanted = size if limit is None else min(size, limit)
        path = self.archives[int(self.archive[index])]
        return read_range(path, int(self.offsets[index]), wanted)

    def identity(self, index: int) -> str:
        name = super().identity(index)
        if len(self.archives) == 1:
            return name
        return f"{self.archives[int(self.archive[index])].name}/{name}"

    def fingerprint(self) -> str:
        """A digest of members, labels, sizes and a sample of the content.

        Modification times do not count: tar files are copied to the disks of other machines, and
        a run goes on there.
        """
        digest = hashlib.sha256(b"tar")
        for path in self.archives:
            digest.update(f"{path.name} {path.stat().st_size}\0".encode())
        for numbers in (self.archive, self.offsets, self.sizes, self.labels):
            digest.update(b"" if numbers is None else numbers.tobytes())
        sample = generator("fingerprint", len(self)).integers(len(self), size=_FINGERPRINT_SAMPLES)
        for index in sample:
            digest.update(os.fsencode(self.names[int(index)]) + b"\0")
            digest.update(self.read(int(index), _FINGERPRINT_BYTES))
        return digest.hexdigest()

    def modification_times(self) -> str:
        return times_digest(self.archives)


def open_tar(path: Path, split: str | None = None) -> TarSource:
    """Open a tar file of a folder, with the same splits and classes as the folder."""
    members = image_members(path)
    chosen = tree.select([member.name for member in members], split, str(path))
    picked = [members[i] for i in chosen.positions]
    archive = np.zeros(len(picked), dtype=np.int64)
    return TarSource([path], archive, picked, chosen.classes, chosen.labels)


def open_tree(path: Path) -> TarSource:
    """Open all images of a tar file of a folder, whatever their split, without labels."""
    members = image_members(path)
    return TarSource([path], np.zeros(len(members), dtype=np.int64), members)


def image_members(path: Path) -> list[Member]:
    """The files of a tar file that may be images, sorted by the bytes of their paths.

    A single top folder around all others (`dataset/train/…`) is removed from the paths.
    Raises `UsageError` if there are none.
    """
    members = [member for member in index_tar(path) if _is_candidate(path, member)]
    if not members:
        raise UsageError(f"no images in the tar file {path}")
    members.sort(key=lambda member: os.fsencode(member.name))
    tops = {member.name.split("/", 1)[0] for member in members}
    if len(tops) == 1 and all(member.name.count("/") >= 2 for member in members):
        return [member._replace(name=member.name.split("/", 1)[1]) for member in members]
    return members


def is_tar(path: Path) -> bool:
    """Whether a file is a tar file. Raises `UsageError` for a compressed one."""
    start = read_range(path, 0, min(512, path.stat().st_size))
    for magic, name in _COMPRESSED.items():
        if start.startswith(magic):
            raise UsageError(
                f"{path} is compressed ({name}); decompress it first, because images in a tar file "
                "are read in place"
            )
    return start[_MAGIC] == b"ustar" or (path.suffix == ".tar" and tarfile.is_tarfile(path))


def index_tar(path: Path) -> tuple[Member, ...]:
    """The regular, visible files of a tar file, in order; the last of equal names counts.

    Raises `UsageError` for a malicious member.
    """
    status = path.stat()
    return _index(path, status.st_size, status.st_mtime_ns)


def read_range(path: Path, offset: int, size: int) -> bytes:
    """Read `size` bytes of a file from `offset`. Raises `BadImageError`."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            content = os.pread(descriptor, size, offset)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise BadImageError(f"cannot be read: {error.strerror}") from None
    if len(content) < size:
        raise BadImageError("cannot be read: the tar file ends before it")
    return content


@lru_cache(maxsize=4)
def _index(path: Path, size: int, modified: int) -> tuple[Member, ...]:
    """The members for a state of the file, so that opening several splits reads it once."""
    found: dict[str, Member] = {}
    try:
        with tarfile.open(path, "r:") as archive:
            for info in _members(archive):
                member = _check(path, info, size)
                if member is not None:
                    found[member.name] = member
    except (tarfile.TarError, ValueError, OverflowError, RecursionError, OSError) as error:
        raise UsageError(f"{path} is not a whole tar file: {error}") from None
    return tuple(found.values())


def _members(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    while (info := archive.next()) is not None:
        yield info
        archive.members.clear()  # type: ignore[attr-defined]


def _check(path: Path, info: tarfile.TarInfo, file_size: int) -> Member | None:
    """The member to read, None to skip it; `UsageError` for a malicious one."""
    parts = [part for part in info.name.split("/") if part not in ("", ".")]
    if info.name.startswith("/") or ".." in parts:
        raise UsageError(f"{path} has a member that points out of it: {info.name!r}")
    if info.isdir():
        return None
    if not info.isreg() or info.issparse():
        raise UsageError(
            f"{path} has a member that is a link, a device or a sparse file: {info.name!r}"
        )
    if info.size < 0 or info.offset_data + info.size > file_size:
        raise UsageError(f"{path} is not a whole tar file: {info.name!r} ends beyond it")
    if any(tree.is_hidden(part) for part in parts):
        return None
    return Member("/".join(parts), info.offset_data, info.size)


def _is_candidate(path: Path, member: Member) -> bool:
    ending = tree.extension(member.name)
    if ending:
        return ending in tree.IMAGE_EXTENSIONS
    start = read_range(path, member.offset, min(member.size, tree.SNIFF_BYTES))
    return tree.looks_like_image(start)
