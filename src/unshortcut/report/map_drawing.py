"""From features to a map: chooses images, reads thumbnails, projects, finds neighbors."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from unshortcut.data.source import ImageSource
from unshortcut.inference.features import Features, view_reader
from unshortcut.inference.reading import Unreadable, read_batches
from unshortcut.measuring.nearest import nearest_rows
from unshortcut.measuring.projection import project
from unshortcut.measuring.subjects.images import stratified
from unshortcut.models.loaded import LoadedModel
from unshortcut.progress import bar
from unshortcut.report.map_page import EmbeddingMap
from unshortcut.report.thumbnails import SIDES, thumbnails

NEIGHBORS = 8
"""Nearest neighbors that a map shows of an image."""


def draw_map(
    model: LoadedModel,
    source: ImageSource,
    features: Features,
    *,
    data: str,
    most: int,
    seed: int,
    workers: int | None,
    console: Console,
) -> EmbeddingMap:
    """Draw a map of the images whose features were computed, or of `most` of them.

    Args:
        source: the images that `features` were computed of.
        data: what the page calls the images.
    """
    total = len(features.indices)
    rows = np.arange(total)
    if total > most:
        strata = np.zeros(total, np.int64) if features.labels is None else features.labels
        rows = stratified(strata, most, seed)
    tiles, read = _tiles(model, source, features.indices[rows], workers, console)
    total -= len(rows) - len(read)  # some may have become unreadable since
    rows = rows[read]
    values, indices = features.values[rows], features.indices[rows].tolist()
    with bar(console, "map") as on_progress:
        positions = project(values, seed=seed, on_progress=on_progress)
    neighbors = np.zeros((len(rows), 0), np.int64), np.zeros((len(rows), 0))
    if len(rows) > 1:
        neighbors = nearest_rows(values, min(NEIGHBORS, len(rows) - 1))
    classes, labels = _classes(features, rows)
    return EmbeddingMap(
        model.name,
        data,
        tuple(source.identity(index) for index in indices),
        classes,
        labels,
        positions,
        *neighbors,
        thumbnails(tiles),
        total,
        seed,
    )


def _tiles(
    model: LoadedModel,
    source: ImageSource,
    indices: NDArray[np.int64],
    workers: int | None,
    console: Console,
) -> tuple[NDArray[np.uint8], list[int]]:
    """Images as the model sees them (N, S, S, 3), as large as a thumbnail, and which were read."""
    seen = model.preprocessing.view
    read = view_reader(source, replace(seen, size=min(max(seen.size, SIDES[-1]), SIDES[0])))
    tiles, kept = [], []
    with bar(console, "thumbnails", unit="images") as on_progress:
        for positions, images in read_batches(
            lambda position: read(int(indices[position])),
            lambda position: source.identity(int(indices[position])),
            Unreadable(len(indices)),
            workers=workers,
            on_progress=on_progress,
        ):
            tiles += images
            kept += positions
    return np.stack(tiles), kept


def _classes(
    features: Features, rows: NDArray[np.int64]
) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    """Names of the classes, and the classes of the images at some rows."""
    if features.labels is None and features.multilabels is not None:
        shown = features.multilabels.take(rows)
        each = tuple(tuple(np.flatnonzero(one == 1).tolist()) for one in shown.values)
        return shown.classes, each
    if features.labels is None:
        return (), ((),) * len(rows)
    labels = features.labels[rows].tolist()
    names = features.classes or tuple(map(str, range(max(labels) + 1)))
    return names, tuple((label,) for label in labels)
