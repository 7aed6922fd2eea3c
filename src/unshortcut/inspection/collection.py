"""All inspected images of a data set, over its splits."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import ImageArray
from unshortcut.data.source import ImageSource
from unshortcut.properties.reading import Inspected
from unshortcut.views.evaluation import WholeView


@dataclass(frozen=True)
class Collection:
    """Inspected images by split, numbered throughout from 0 to N - 1."""

    splits: Mapping[str, Inspected]

    def __len__(self) -> int:
        return int(self._ends[-1])

    @cached_property
    def split_numbers(self) -> NDArray[np.int64]:
        """(N,): the number of the split of each image."""
        return np.repeat(np.arange(len(self.splits)), [len(one) for one in self.splits.values()])

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(self.splits)

    @cached_property
    def hashes(self) -> NDArray[np.uint64]:
        return np.concatenate([one.hashes for one in self.splits.values()])

    @cached_property
    def mirrored(self) -> NDArray[np.uint64]:
        return np.concatenate([one.mirrored for one in self.splits.values()])

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """The classes of all splits."""
        named = (one.source.classes or () for one in self.splits.values())
        return tuple(dict.fromkeys(name for names in named for name in names))

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """(N,): indices into `classes`, -1 for images without a label."""
        return np.concatenate([self._labels(one) for one in self.splits.values()])

    def split(self, number: int) -> str:
        return self.names[int(self.split_numbers[number])]

    def identity(self, number: int) -> str:
        inspected, row = self._locate(number)
        return inspected.identity(row)

    def class_name(self, number: int) -> str:
        """The class of an image; empty without a label."""
        label = int(self.labels[number])
        return self.classes[label] if 0 <= label < len(self.classes) else ""

    def pixels(self, number: int, side: int) -> ImageArray:
        """The whole image, resized to `side` × `side`. Raises `BadImageError`."""
        inspected, row = self._locate(number)
        image = inspected.source.image(int(inspected.indices[row]))
        return WholeView(side)(image, 0, 0, 0)["image"]

    def image(self, number: int) -> ImageArray:
        """The image at its own size. Raises `BadImageError`."""
        inspected, row = self._locate(number)
        return inspected.source.image(int(inspected.indices[row])).pixels()

    def numbers(self, split: str) -> NDArray[np.int64]:
        """The numbers of all images of a split."""
        return np.flatnonzero(self.split_numbers == self.names.index(split))

    def number_of(self, split: str, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of images by their positions in the source of a split; -1 if not readable."""
        inspected = self.splits[split]
        rows = np.full(len(inspected.source), -1, np.int64)
        rows[inspected.indices] = self.numbers(split)
        return rows[indices]

    def source(self, split: str) -> ImageSource:
        return self.splits[split].source

    def _labels(self, inspected: Inspected) -> NDArray[np.int64]:
        labels, classes = inspected.labels, inspected.source.classes
        if labels is None or classes is None:
            return np.full(len(inspected), -1, np.int64)
        new = np.array([self.classes.index(name) for name in classes], dtype=np.int64)
        return np.where(labels < 0, -1, new[labels])

    def _locate(self, number: int) -> tuple[Inspected, int]:
        which = int(self.split_numbers[number])
        start = int(self._ends[which - 1]) if which else 0
        return self.splits[self.names[which]], number - start

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        return np.cumsum([len(one) for one in self.splits.values()])
