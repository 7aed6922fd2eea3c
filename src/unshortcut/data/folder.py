"""A folder of images, with class folders or without."""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from unshortcut.arrays import IndexArray
from unshortcut.data import tree
from unshortcut.data.encoded import EncodedSource
from unshortcut.data.files import files_digest, read_file, times_digest
from unshortcut.data.source import Classes, Labels
from unshortcut.errors import UsageError


class FolderSource(EncodedSource):
    """Given files below a folder; `open_folder` finds them."""

    def __init__(
        self, root: Path, names: Sequence[str], classes: Classes = None, labels: Labels = None
    ) -> None:
        super().__init__(names, classes, labels)
        self.root = root

    def read(self, index: int, limit: int | None = None) -> bytes:
        return read_file(self.root / self.names[index], limit)

    def take(self, indices: IndexArray) -> "FolderSource":
        """Some of the files, in the given order."""
        names = [self.names[int(index)] for index in indices]
        labels = None if self.labels is None else self.labels[indices]
        return FolderSource(self.root, names, self.classes, labels)

    def fingerprint(self) -> str:
        """A digest of labels, and of the paths, sizes and a sample of the content of the files."""
        digest = hashlib.sha256(b"folder")
        digest.update(b"" if self.labels is None else self.labels.tobytes())
        digest.update(files_digest(self.root, self.names).encode())
        return digest.hexdigest()

    def modification_times(self) -> str:
        return times_digest(self.root / self.names[index] for index in range(len(self)))


def open_folder(root: Path, split: str | None = None) -> FolderSource:
    """The images of a folder, sorted by path; `tree.py` explains what its subfolders mean."""
    paths = image_paths(root)
    if not paths:
        raise UsageError(f"no images in the folder {root}")
    chosen = tree.select(paths, split, str(root))
    return FolderSource(root, [paths[i] for i in chosen.positions], chosen.classes, chosen.labels)


def image_paths(root: Path) -> list[str]:
    """The paths below `root` that are candidates for an image, sorted by their bytes.

    Candidates are files with the extension of an image, and files without an extension that start
    like one. Links are followed, except to a parent folder; a broken link with the extension of an
    image is a candidate that cannot be read.
    """
    return sorted(_walk(os.fspath(root), "", ()), key=os.fsencode)


def _walk(folder: str, prefix: str, above: tuple[tuple[int, int], ...]) -> Iterator[str]:
    try:
        status = Path(folder).stat()
        here = (status.st_dev, status.st_ino)
        if here in above:
            return
        with os.scandir(folder) as listing:
            entries = [entry for entry in listing if not tree.is_hidden(entry.name)]
    except OSError as error:
        raise UsageError(f"cannot read the folder {folder}: {error.strerror}") from None
    for entry in entries:
        path = prefix + entry.name
        if _is(entry.is_dir):
            yield from _walk(entry.path, path + "/", (*above, here))
        elif _is_candidate(entry):
            yield path


def _is_candidate(entry: os.DirEntry[str]) -> bool:
    ending = tree.extension(entry.name)
    if ending:
        if ending not in tree.IMAGE_EXTENSIONS:
            return False
        return _is(entry.is_file) or (entry.is_symlink() and not Path(entry.path).exists())
    if not _is(entry.is_file):
        return False
    try:
        with Path(entry.path).open("rb") as file:
            return tree.looks_like_image(file.read(tree.SNIFF_BYTES))
    except OSError:
        return False


def _is(kind: Callable[[], bool]) -> bool:
    """Whether an entry is of a kind; a link that points to itself is of none."""
    try:
        return kind()
    except OSError:
        return False
