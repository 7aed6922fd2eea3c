"""Images of a source with other classes: some of its own, or those of another data set."""

import hashlib
from collections.abc import Sequence

import numpy as np

from unshortcut.data.folder import FolderSource
from unshortcut.data.source import ImageSource, Subset
from unshortcut.errors import UsageError


class Relabeled(Subset):
    """The images whose class is in `numbers`, with labels that are indices into `classes`.

    Args:
        numbers: the new label of each class of the source; -1 leaves its images out.
    """

    def __init__(self, source: ImageSource, classes: Sequence[str], numbers: Sequence[int]) -> None:
        assert source.labels is not None
        labels = np.asarray(numbers, dtype=np.int64)[source.labels]
        super().__init__(source, np.flatnonzero(labels >= 0))
        self.classes = tuple(classes)
        self.labels = labels[self.indices]

    def fingerprint(self) -> str:
        assert self.labels is not None
        digest = hashlib.sha256(super().fingerprint().encode())
        digest.update(self.labels.tobytes())
        return digest.hexdigest()


def with_classes(source: ImageSource, chosen: Sequence[str], where: str) -> ImageSource:
    """The images of some classes of a source, in the order of the source's own classes."""
    if source.labels is None or source.classes is None:
        raise UsageError(f"'{where}' has no classes to choose from: class folders give them")
    classes = tuple(name for name in source.classes if name in set(chosen))
    index = {name: number for number, name in enumerate(classes)}
    found = Relabeled(source, classes, [index.get(name, -1) for name in source.classes])
    if isinstance(source, FolderSource):  # so that only the files of these classes count
        files = source.take(found.indices)
        files.classes, files.labels = found.classes, found.labels
        return files
    return found
