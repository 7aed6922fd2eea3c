"""A tree of images: each is a file in, and a file at the same place out."""

import os
from collections.abc import Iterator

import numpy as np

from unshortcut.build.copying import Copying
from unshortcut.build.destination import Writer
from unshortcut.build.encoding import encode, is_whole
from unshortcut.build.job import Job, Outcome, attempt, is_outdated
from unshortcut.build.origin import Tree
from unshortcut.data.copies import copy_name
from unshortcut.data.failures import Failure
from unshortcut.errors import UsageError

_LONGEST_NAME = 255
"""Bytes, on the file systems in use."""


class TreeJob(Job):
    """Mirrors a tree; a unit is an image."""

    def __init__(self, tree: Tree, copying: Copying, writer: Writer) -> None:
        super().__init__(copying, writer)
        self.tree = tree

    def __len__(self) -> int:
        return len(self.tree)

    def images(self) -> int:
        return len(self.tree)

    def size(self, unit: int) -> int | None:
        return self.tree.size(unit)

    def check(self) -> None:
        for name in self._all_names():
            if len(os.fsencode(name.rpartition("/")[2])) > _LONGEST_NAME:
                raise UsageError(
                    f"the copy would be called {name}, which is longer than a name may be; "
                    "rename its original"
                )
        # Sorted hashes tell whether any two names are equal in 8 bytes a name.
        hashes = np.fromiter((hash(name) for name in self._all_names()), np.int64)
        hashes.sort()
        twice = set(hashes[1:][hashes[1:] == hashes[:-1]].tolist())
        if not twice:
            return
        seen: set[str] = set()
        for name in self._all_names():
            if hash(name) in twice and name in seen:
                raise UsageError(
                    f"two results would be called {name}: another image of the source has the "
                    "name of a copy; rename it or choose another --format"
                )
            seen.add(name)

    def earlier(self, unit: int) -> Outcome | None:
        copy, original = self._names(unit)
        # Joined as text: pathlib would take longer than the look at the file.
        place = f"{self.writer.destination}/{copy}"
        if not is_whole(place):
            return None
        if is_outdated(os.stat(place).st_mtime_ns, self.tree.modified(unit)):  # noqa: PTH116
            return None
        if original is not None and not self._is_whole_original(unit, original):
            return None
        return Outcome(made=1)

    def run(self, unit: int) -> Iterator[Outcome]:
        identity = self.tree.identity(unit)
        files = attempt(identity, lambda: self._make(unit, identity))
        if isinstance(files, Failure):
            yield Outcome(seen=1, failures=(files,))
            return
        for name, content in files.items():
            self.writer.put(name, content)
        yield Outcome(seen=1, made=1)

    def _make(self, unit: int, identity: str) -> dict[str, bytes]:
        """The files of a unit by name."""
        pixels, content = self.tree.load(unit)
        copy, original = self._names(unit)
        files = {copy: self.copying.encode(self.copying.copy(pixels, identity), copy)}
        if original is not None:
            files[original] = content or encode(pixels, "png", self.copying.quality)
        return files

    def _names(self, unit: int) -> tuple[str, str | None]:
        """The names of the copy and, where both are kept, of the original."""
        path = self.tree.path(unit)
        if not self.copying.double:
            return self.copying.file_name(path), None
        original = path if self.tree.has_files(unit) else copy_name(path, "png")
        return self.copying.file_name(path), original

    def _all_names(self) -> Iterator[str]:
        for unit in range(len(self)):
            yield from (name for name in self._names(unit) if name is not None)

    def _is_whole_original(self, unit: int, name: str) -> bool:
        path = self.writer.destination / name
        if not self.tree.has_files(unit):
            return is_whole(path)
        try:
            return path.stat().st_size == self.tree.size(unit)
        except OSError:
            return False
