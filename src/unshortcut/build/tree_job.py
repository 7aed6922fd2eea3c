"""Copy a tree of images: each file has its copy at the same relative path."""

import os
from collections.abc import Iterator

import numpy as np

from unshortcut.build.copy_settings import CopySettings
from unshortcut.build.destination import Writer
from unshortcut.build.encoding import encode, is_whole
from unshortcut.build.inputs import Tree
from unshortcut.build.job import Job, Outcome, attempt, is_outdated
from unshortcut.data.copies import copy_name
from unshortcut.data.failures import Failure
from unshortcut.errors import UsageError

_LONGEST_NAME = 255
"""In bytes; the limit of common file systems."""


class TreeJob(Job):
    """Copies a tree of images; a unit is an image."""

    def __init__(self, tree: Tree, settings: CopySettings, writer: Writer) -> None:
        super().__init__(writer)
        self.settings = settings
        self.copies = 2 if settings.keep_originals else 1
        self.tree = tree

    def __len__(self) -> int:
        return len(self.tree)

    def num_images(self) -> int:
        return len(self.tree)

    def size(self, unit: int) -> int | None:
        return self.tree.size(unit)

    def check(self) -> None:
        for name in self._all_names():
            if len(os.fsencode(name.rpartition("/")[2])) > _LONGEST_NAME:
                raise UsageError(
                    f"the name of the copy, {name}, would be too long; rename the original"
                )
        # Sorted hashes find duplicate names with 8 bytes of memory per name.
        hashes = np.fromiter((hash(name) for name in self._all_names()), np.int64)
        hashes.sort()
        duplicates = set(hashes[1:][hashes[1:] == hashes[:-1]].tolist())
        if not duplicates:
            return
        known: set[str] = set()
        for name in self._all_names():
            if hash(name) in duplicates and name in known:
                raise UsageError(
                    f"two results would be called {name}: another image of the source has the "
                    "name of a copy; rename it or choose another --format"
                )
            known.add(name)

    def earlier(self, unit: int) -> Outcome | None:
        copy, original = self._names(unit)
        # Joined as text: pathlib would take longer than checking the file.
        path = f"{self.writer.destination}/{copy}"
        if not is_whole(path):
            return None
        if is_outdated(os.stat(path).st_mtime_ns, self.tree.modified(unit)):  # noqa: PTH116
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
        """The contents of a unit's files by name."""
        pixels, content = self.tree.load(unit)
        copy, original = self._names(unit)
        files = {copy: self.settings.encode(self.settings.copy(pixels, identity), copy)}
        if original is not None:
            files[original] = content or encode(pixels, "png", self.settings.quality)
        return files

    def _names(self, unit: int) -> tuple[str, str | None]:
        """The name of the copy and, if originals are kept, the name of the original."""
        path = self.tree.path(unit)
        if not self.settings.keep_originals:
            return self.settings.file_name(path), None
        original = path if self.tree.has_files(unit) else copy_name(path, "png")
        return self.settings.file_name(path), original

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
