"""Features of the images that a head is refitted on, by class and group."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unshortcut.measuring.linear_head import Doubles, Head, Indices
from unshortcut.randomness import generator


@dataclass(frozen=True)
class Samples:
    """Features of R images or of versions of images, with their classes and groups."""

    features: Doubles
    """(R, D)"""
    labels: Indices
    """(R,)"""
    cells: Indices
    """(R,): class and group of each row as one number."""
    names: tuple[str, ...]
    """Names of the cells, such as `dog, tag`."""
    images: Indices
    """(R,): the image of each row; versions of one image share it."""

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, rows: Indices) -> "Samples":
        return Samples(
            self.features[rows],
            self.labels[rows],
            self.cells[rows],
            self.names,
            self.images[rows],
        )

    def halves(self, seed: int) -> tuple["Samples", "Samples"]:
        """A half of the images of each cell, and the other half; a single image is in the first."""
        _, first = np.unique(self.images, return_index=True)  # a row of each image
        order = generator(seed, "halves").permutation(first)
        chosen = np.zeros(int(self.images.max()) + 1, dtype=bool)
        for cell in np.unique(self.cells[first]):
            members = order[self.cells[order] == cell]
            chosen[self.images[members[: (len(members) + 1) // 2]]] = True
        inside = chosen[self.images]
        return self.take(np.flatnonzero(inside)), self.take(np.flatnonzero(~inside))

    def versions(self) -> tuple["Samples", "Samples"]:
        """The first and the second version of the images that are there in both, in one order."""
        order = np.argsort(self.images, kind="stable")
        pairs = np.flatnonzero(np.diff(self.images[order]) == 0)
        return self.take(order[pairs]), self.take(order[pairs + 1])

    def accuracies(self, head: Head) -> "CellAccuracies":
        """How often a head is right, in all and in each cell."""
        return CellAccuracies(head.predict(self.features) == self.labels, self.cells, self.names)


@dataclass(frozen=True)
class CellAccuracies:
    """Whether each of R rows is classified correctly."""

    right: np.ndarray[tuple[int], np.dtype[np.bool_]]
    """(R,)"""
    cells: Indices
    """(R,)"""
    names: tuple[str, ...]

    def mean(self, rows: Indices | slice = slice(None)) -> float:
        return float(self.right[rows].mean())

    def by_cell(self, rows: Indices | slice = slice(None)) -> Doubles:
        """Accuracy of each cell, NaN where it has no rows."""
        count = np.bincount(self.cells[rows], minlength=len(self.names))
        correct = np.bincount(self.cells[rows], self.right[rows], minlength=len(self.names))
        return np.divide(correct, count, out=np.full(len(count), np.nan), where=count > 0)

    def mean_of_cells(self, rows: Indices | slice = slice(None)) -> float:
        """Mean accuracy over cells."""
        return float(np.nanmean(self.by_cell(rows)))

    def worst(self, rows: Indices | slice = slice(None)) -> float:
        """Accuracy of the worst cell."""
        return float(np.nanmin(self.by_cell(rows)))

    def worst_error(self) -> float:
        """Standard error of the accuracy of the worst cell."""
        accuracies = self.by_cell()
        cell = int(np.nanargmin(accuracies))
        share, count = float(accuracies[cell]), int((self.cells == cell).sum())
        return math.sqrt(share * (1 - share) / count)

    @property
    def worst_name(self) -> str:
        return self.names[int(np.nanargmin(self.by_cell()))]


def cells_of(
    labels: Indices, classes: Sequence[str], groups: Indices, group_names: Sequence[str]
) -> tuple[Indices, tuple[str, ...]]:
    """The cell (N,) of each image by class and group, and the names of those that occur."""
    both = labels * len(group_names) + groups
    present, cells = np.unique(both, return_inverse=True)
    names = []
    for one in present.tolist():
        label, group = divmod(one, len(group_names))
        several = len(group_names) > 1
        names.append(f"{classes[label]}, {group_names[group]}" if several else classes[label])
    return cells.astype(np.int64), tuple(names)
