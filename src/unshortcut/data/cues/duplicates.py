"""`duplicates`: some images are copies of images of the training split."""

import hashlib
from typing import ClassVar

import numpy as np

from unshortcut.arrays import IndexArray
from unshortcut.data.planted import Cue, OpenSplit, Planted, Share
from unshortcut.data.regions import Regions
from unshortcut.data.source import Image, ImageSource
from unshortcut.errors import UsageError
from unshortcut.parts import settings
from unshortcut.randomness import generator


@settings
class Duplicates(Cue):
    """Images that are replaced by images of the same class from another split, which leaks.

    Args:
        split: the split that they are copied from.
    """

    name: ClassVar[str] = "duplicates"

    share: Share = 0.05
    split: str = "train"

    def plant(self, source: ImageSource, open_split: OpenSplit) -> "Duplicated":
        return Duplicated(source, self, open_split(self.split))


class Duplicated(Planted):
    """A source some of whose images are copies; `originals` has their index in `other`, or -1."""

    def __init__(self, source: ImageSource, cue: Duplicates, other: ImageSource) -> None:
        super().__init__(source, cue)
        self.other = other
        self.originals = self._choose()
        self.carriers = self.originals >= 0

    def image(self, index: int) -> Image:
        original = int(self.originals[index])
        return self.source.image(index) if original < 0 else self.other.image(original)

    def regions(self, index: int) -> Regions:
        original = int(self.originals[index])
        return self.source.regions(index) if original < 0 else self.other.regions(original)

    def fingerprint(self) -> str:
        digest = hashlib.sha256(f"{super().fingerprint()} {self.other.fingerprint()}".encode())
        digest.update(self.originals.tobytes())
        return digest.hexdigest()

    def modification_times(self) -> str:
        return f"{super().modification_times()} {self.other.modification_times()}"

    def _choose(self) -> IndexArray:
        """For each image, the one that it is a copy of; those of a class come in turn."""
        labels = self.other.labels
        if labels is None or self.other.classes != self.classes:
            raise UsageError(f"{self.cue.name}: the split to copy from has other classes")
        # In the same split, an image is no copy of itself or of another copy.
        same = self.other.fingerprint() == self.source.fingerprint()
        allowed = ~self.carriers if same else np.ones(len(labels), dtype=bool)
        order = generator(self.cue.seed, self.cue.name, "originals").permutation(len(labels))
        found = np.full(len(self), -1, dtype=np.int64)
        for label in np.unique(self.true_labels):
            copies = np.flatnonzero(self.carriers & (self.true_labels == label))
            originals = order[(labels[order] == label) & allowed[order]]
            if len(originals):
                found[copies] = np.resize(originals, len(copies))
        return found
