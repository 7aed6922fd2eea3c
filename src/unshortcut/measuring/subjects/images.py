"""Images as a model sees them: resized and cropped, uint8, before they are normalized."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unshortcut.data.source import BadImageError, ImageSource
from unshortcut.errors import UsageError
from unshortcut.randomness import generator
from unshortcut.views.evaluation import EvaluationView, WholeView

Pixels = NDArray[np.uint8]
"""(S, S, 3)."""
Places = NDArray[np.int64]
View = EvaluationView | WholeView
Transform = Callable[[Pixels, int], Pixels]
"""Pixels and their position among the prepared images, to pixels of the same size."""

IN_MEMORY = 2**30
"""Bytes of images that are kept; more are decoded again each time."""


@dataclass(frozen=True)
class Prepared:
    """Readable images of a source, ready for a model."""

    source: ImageSource
    view: View
    indices: Places
    """(N,) positions in the source."""
    labels: Places | None
    """(N,) places in `classes`."""
    classes: tuple[str, ...]
    """Empty without labels."""
    total: int
    """Images that could have been taken."""
    unreadable: int = 0
    kept: tuple[Pixels, ...] | None = None

    def __len__(self) -> int:
        return len(self.indices)

    def pixels(self, position: int) -> Pixels:
        """uint8 (S, S, 3)."""
        if self.kept is not None:
            return self.kept[position]
        return _view(self.source, self.view, int(self.indices[position]))

    def identity(self, position: int) -> str:
        """What names the image to a person."""
        return self.source.identity(int(self.indices[position]))

    def take(self, rows: Sequence[int] | Places) -> "Prepared":
        """The images at some positions."""
        chosen = np.asarray(rows, dtype=np.int64)
        return Prepared(
            self.source,
            self.view,
            self.indices[chosen],
            None if self.labels is None else self.labels[chosen],
            self.classes,
            self.total,
            self.unreadable,
            None if self.kept is None else tuple(self.kept[row] for row in chosen.tolist()),
        )

    def some(self, most: int | None, seed: int) -> "Prepared":
        """At most so many, of each class its share, or of all where there are no labels."""
        if most is None or len(self) <= most:
            return self
        labels = np.zeros(len(self), np.int64) if self.labels is None else self.labels
        return self.take(stratified(labels, most, seed))

    def required_labels(self) -> Places:
        """The labels (N,), which must be there."""
        assert self.labels is not None
        return self.labels

    def batches(
        self, size: int, pool: Executor, transform: Transform | None = None
    ) -> Iterator[NDArray[np.uint8]]:
        """uint8 (n, S, S, 3), in order; a batch is made by threads while the last one is used."""

        def make(position: int) -> Pixels:
            pixels = self.pixels(position)
            return pixels if transform is None else transform(pixels, position)

        def ask(start: int) -> list[Future[Pixels]]:
            positions = range(start, min(start + size, len(self)))
            return [pool.submit(make, position) for position in positions]

        pending = ask(0)
        for start in range(0, len(self), size):
            batch = [future.result() for future in pending]
            pending = ask(start + size)
            yield np.stack(batch)


def prepare(
    source: ImageSource,
    view: View,
    indices: Places,
    labels: Places | None,
    classes: tuple[str, ...],
    total: int,
    pool: Executor,
    on_progress: Callable[[int, int], None] | None = None,
) -> Prepared:
    """Decode images; unreadable ones are left out with a warning, and are an error if all are."""
    in_memory = len(indices) * view.size * view.size * 3 <= IN_MEMORY
    pixels: list[Any] = []
    readable: list[int] = []
    failure: tuple[str, str] | None = None
    jobs = pool.map(lambda index: _try(source, view, int(index)), indices)
    for row, made in enumerate(jobs):
        if isinstance(made, str):
            failure = failure or (source.identity(int(indices[row])), made)
        else:
            readable.append(row)
            if in_memory:
                pixels.append(made)
        if on_progress:
            on_progress(row + 1, len(indices))
    bad = len(indices) - len(readable)
    if failure is not None:
        said = f"{bad} of {len(indices)} images cannot be read, the first is '{failure[0]}'"
        if not readable:
            raise UsageError(f"{said}: {failure[1]}")
        warnings.warn(f"{said}: {failure[1]}; they are left out", stacklevel=2)
    rows = np.asarray(readable, dtype=np.int64)
    return Prepared(
        source,
        view,
        indices[rows],
        None if labels is None else labels[rows],
        classes,
        total,
        bad,
        tuple(pixels) if in_memory else None,
    )


def stratified(labels: Places, most: int, seed: int) -> Places:
    """Sorted rows of at most `most` of the labeled things (N,): of each class its share.

    Each class has one, as far as `most` goes, so that none is lost; else a class has as large a
    part in the rows as in the whole, so that a mean over the rows estimates that over the whole.
    They depend on the labels and the seed alone, and fewer are a part of more.
    """
    order, rank, size = _ranked(labels, seed)
    due = np.where(rank == 0, 0.0, (rank + 0.5) / size)
    return np.sort(np.lexsort((order, due))[:most])


def half_of_each(labels: Places, seed: int) -> Places:
    """Sorted rows of one half of every class of the labeled things (N,), the larger one."""
    _, rank, size = _ranked(labels, seed)
    return np.flatnonzero(rank < (size + 1) // 2)


def _ranked(labels: Places, seed: int) -> tuple[Places, Places, Places]:
    """Places (N,) in a random order, among all and within the class, and the size of the class."""
    shuffled = generator(seed, "stratified").permutation(len(labels))
    order = np.empty(len(labels), np.int64)
    order[shuffled] = np.arange(len(labels))
    rank, size = np.empty_like(order), np.empty_like(order)
    for label in np.unique(labels):
        members = shuffled[labels[shuffled] == label]
        rank[members], size[members] = np.arange(len(members)), len(members)
    return order, rank, size


def _view(source: ImageSource, view: View, index: int) -> Pixels:
    return view(source.image(index), 0, 0, index)["image"]


def _try(source: ImageSource, view: View, index: int) -> Pixels | str:
    """The view of an image, or why there is none."""
    try:
        return _view(source, view, index)
    except BadImageError as error:
        return str(error)
