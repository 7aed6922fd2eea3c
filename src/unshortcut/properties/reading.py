"""Every image of a data set read once: facts about its file, its pixels, and its hash."""

from collections.abc import Mapping
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from unshortcut.data.failures import Failure
from unshortcut.data.source import ImageSource
from unshortcut.inference.reading import Unreadable, read_batches
from unshortcut.progress import OnProgress
from unshortcut.properties.columns import Column, file_columns, pixel_columns, size_columns
from unshortcut.properties.file_facts import FileFacts, file_facts
from unshortcut.properties.pixel_facts import SIDE, PixelFacts, pixel_facts
from unshortcut.views.evaluation import WholeView


@dataclass(frozen=True)
class Inspected:
    """The N readable images of a source."""

    source: ImageSource
    indices: NDArray[np.int64]  # (N,), positions in the source
    columns: Mapping[str, Column]  # properties by name
    hashes: NDArray[np.uint64]  # (N,)
    mirrored: NDArray[np.uint64]
    """(N,): the hashes of the images after a horizontal flip."""
    has_files: bool
    """Whether the images are files; otherwise nothing is known of formats and compression."""
    unreadable: tuple[Failure, ...] = ()

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def labels(self) -> NDArray[np.int64] | None:
        """(N,), or None if the data have no labels."""
        return None if self.source.labels is None else self.source.labels[self.indices]

    def identity(self, row: int) -> str:
        return self.source.identity(int(self.indices[row]))


def inspect_source(
    source: ImageSource, *, workers: int | None = None, on_progress: OnProgress | None = None
) -> Inspected:
    """Read all images; those that cannot be read are left out with a warning."""
    view = WholeView(SIDE)

    def read(index: int) -> tuple[FileFacts | None, tuple[int, int], PixelFacts]:
        data = source.encoded(index)
        facts = None if data is None else file_facts(data)
        image = source.image(index)
        measured = pixel_facts(view(image, 0, 0, index)["image"])
        return facts, (image.height, image.width), measured

    rows: list[int] = []
    found: list[tuple[FileFacts | None, tuple[int, int], PixelFacts]] = []
    unreadable = Unreadable(len(source))
    threads = cv2.getNumThreads()
    cv2.setNumThreads(1)  # images are read side by side; threads inside each would get in the way
    try:
        for positions, facts in read_batches(
            read, source.identity, unreadable, workers=workers, on_progress=on_progress
        ):
            rows += positions
            found += facts
    finally:
        cv2.setNumThreads(threads)
    files, sizes, measured = zip(*found, strict=True)
    shape = np.array(sizes, dtype=np.int64)
    known = [one for one in files if one is not None]
    columns = file_columns(known, shape) if len(known) == len(files) else size_columns(shape)
    return Inspected(
        source,
        np.array(rows, dtype=np.int64),
        columns | pixel_columns(np.stack([one.values for one in measured])),
        np.array([one.hash for one in measured], dtype=np.uint64),
        np.array([one.mirrored for one in measured], dtype=np.uint64),
        len(known) == len(files),
        tuple(unreadable.failures.values()),
    )
