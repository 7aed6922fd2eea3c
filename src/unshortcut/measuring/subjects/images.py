"""Images as a model sees them: resized and cropped, uint8, before they are normalized."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unshortcut.data.source import ImageSource
from unshortcut.inference.features import view_reader
from unshortcut.inference.reading import Unreadable, read_batches
from unshortcut.progress import OnProgress
from unshortcut.randomness import generator
from unshortcut.views.evaluation import EvaluationView, WholeView

Pixels = NDArray[np.uint8]
"""(S, S, 3)."""
Indices = NDArray[np.int64]
View = EvaluationView | WholeView
Transform = Callable[[Pixels, int], Pixels]
"""Pixels and their position among the prepared images, to pixels of the same size."""

IN_MEMORY = 2**30
"""Images of at most so many bytes are kept in memory; more are decoded for every pass."""


@dataclass(frozen=True)
class ImageSample:
    """The images that a result was measured on; a base class of results."""

    num_images: int
    total: int
    """Number of images available."""
    size: int
    """Side of the images in pixels."""


@dataclass(frozen=True)
class Prepared:
    """Readable images of a source, ready for a model."""

    source: ImageSource
    view: View
    indices: Indices  # (N,), positions in the source
    labels: Indices | None  # (N,), indices into `classes`
    classes: tuple[str, ...]  # empty if there are no labels
    total: int
    """Number of images from which these were chosen."""
    unreadable: int = 0
    kept: tuple[Pixels, ...] | None = None

    def __len__(self) -> int:
        return len(self.indices)

    def pixels(self, position: int) -> Pixels:
        """uint8 (S, S, 3)."""
        if self.kept is not None:
            return self.kept[position]
        return view_reader(self.source, self.view)(int(self.indices[position]))

    def identity(self, position: int) -> str:
        """The name of an image: its path in the data set."""
        return self.source.identity(int(self.indices[position]))

    def take(self, rows: Sequence[int] | Indices) -> "Prepared":
        """The images at some positions."""
        chosen = np.asarray(rows, dtype=np.int64)
        labels = None if self.labels is None else self.labels[chosen]
        kept = None if self.kept is None else tuple(self.kept[row] for row in chosen.tolist())
        return replace(self, indices=self.indices[chosen], labels=labels, kept=kept)

    def some(self, most: int | None, seed: int) -> "Prepared":
        """At most `most` of the images, stratified by class if there are labels."""
        if most is None or len(self) <= most:
            return self
        labels = np.zeros(len(self), np.int64) if self.labels is None else self.labels
        return self.take(stratified(labels, most, seed))

    def seeded(
        self, key: tuple[str | int, ...], change: Callable[[Pixels, np.random.Generator], Pixels]
    ) -> Transform:
        """A random change as a transform; it is the same for an image in every selection."""
        return lambda pixels, at: change(pixels, generator(*key, int(self.indices[at])))

    def required_labels(self) -> Indices:
        """The labels (N,), for callers that know that there are some."""
        assert self.labels is not None
        return self.labels

    def decoded(self, workers: int | None, on_progress: OnProgress | None = None) -> "Prepared":
        """The images that can be read; there is a warning if some cannot, an error if none can."""
        in_memory = len(self) * self.view.size**2 * 3 <= IN_MEMORY
        unreadable = Unreadable(len(self))
        pixels: list[Pixels] = []
        readable: list[int] = []
        for rows, images in read_batches(
            self.pixels, self.identity, unreadable, workers=workers, on_progress=on_progress
        ):
            readable += rows
            if in_memory:
                pixels += images
        kept = tuple(pixels) if in_memory else None
        return replace(self.take(readable), unreadable=len(unreadable.failures), kept=kept)


def stratified(labels: Indices, most: int, seed: int) -> Indices:
    """Choose at most `most` rows, stratified by the labels (N,), and return them sorted.

    Every class gets one row, as far as `most` allows, and beyond that its share of the whole, so
    that a mean over the rows estimates the mean over all. The choice depends only on the labels
    and the seed, and a smaller choice is contained in a larger one.
    """
    order, rank, size = _ranked(labels, seed)
    due = np.where(rank == 0, 0.0, (rank + 0.5) / size)
    return np.sort(np.lexsort((order, due))[:most])


def half_of_each(labels: Indices, seed: int) -> Indices:
    """Choose half of the rows of each class, rounded up, and return them sorted."""
    _, rank, size = _ranked(labels, seed)
    return np.flatnonzero(rank < (size + 1) // 2)


def _ranked(labels: Indices, seed: int) -> tuple[Indices, Indices, Indices]:
    """Ranks (N,) in a random order among all rows and within the class, and class sizes (N,)."""
    shuffled = generator(seed, "stratified").permutation(len(labels))
    order = np.empty(len(labels), np.int64)
    order[shuffled] = np.arange(len(labels))
    rank, size = np.empty_like(order), np.empty_like(order)
    for label in np.unique(labels):
        members = shuffled[labels[shuffled] == label]
        rank[members], size[members] = np.arange(len(members)), len(members)
    return order, rank, size
