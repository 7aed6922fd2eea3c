"""`unshortcut.neighbors`: the images that models find most similar, side by side.

The nearest neighbors of an image show what a representation has kept, e.g. the colors,
orientations or textures that they share with it (Xiao et al. 2021, figure 3). They are the images
with the largest cosine similarity of features; an image is never its own neighbor.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage
from rich.console import Console

from unshortcut.data.open import open_data
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.inference.features import Features
from unshortcut.measuring.exhibits import Picture, Pictures, picture
from unshortcut.measuring.neighbor_sheet import QueryNeighbors, draw_sheet, neighbor_pictures
from unshortcut.measuring.wording import percent
from unshortcut.models.load import LoadedModel, ModelLike, load_model, models_by_name
from unshortcut.probes.prepare import Data, features_of
from unshortcut.randomness import generator
from unshortcut.spaces.subsets import select_spaces
from unshortcut.training.folder import is_run

Indices = NDArray[np.int64]
SIDE = 96
"""Default side of the pictures in pixels."""
_LETTER = 8
"""Approximate width of a letter in a title, in pixels."""
_CHUNK = 256
"""Queries that `nearest_rows` compares with all images at once; bounds the memory."""


@dataclass(frozen=True)
class ModelNeighbors:
    """The neighbors of some queries according to one model, the nearest first."""

    indices: Indices  # (Q, K), in the data that was searched
    similarities: NDArray[np.float64]  # (Q, K), cosines
    same_class: NDArray[np.bool_] | None
    """(Q, K): whether the neighbor has the class of the query; None without labels."""

    @property
    def agreement(self) -> float | None:
        """The share of neighbors that have the class of their query, from 0 to 1."""
        return None if self.same_class is None else float(self.same_class.mean())


@dataclass(frozen=True)
class NeighborComparison:
    """The neighbors of the same queries according to several models."""

    source: ImageSource  # of the queries
    searched: ImageSource  # of the neighbors
    queries: Indices  # (Q,), in `source`
    models: dict[str, ModelNeighbors]

    def to_dict(self) -> dict[str, Any]:
        """The whole result as plain values, for JSON."""
        return {
            "queries": [self.source.identity(query) for query in self.queries.tolist()],
            "models": {name: self._plain(found) for name, found in self.models.items()},
        }

    def pictures(self, *, side: int = SIDE) -> Pictures:
        """One row of pictures per query: the query, then its neighbors by each model."""
        return neighbor_pictures(
            {name: self._rows(found, side) for name, found in self.models.items()}
        )

    def sheet(self, *, side: int = SIDE) -> PillowImage.Image:
        """The pictures as one image, each row with the class of the query at its left.

        Neighbors of the query's class have a green frame, others a red one.
        """
        titles = ["query"]
        for name, found in self.models.items():
            share = found.agreement
            title = name if share is None else f"{name}: {percent(share)} of the query's class"
            count = found.indices.shape[1]
            titles += [_shortened(title, count * side // _LETTER), *[""] * (count - 1)]
        return draw_sheet(self.pictures(side=side), titles, side)

    def _rows(self, found: ModelNeighbors, side: int) -> list[QueryNeighbors]:
        marks = np.full(found.indices.shape, "")
        if found.same_class is not None:
            marks = np.where(found.same_class, "good", "bad")
        rows = []
        for query, *own in zip(self.queries.tolist(), found.indices, marks, strict=True):
            near = zip(*own, strict=True)
            pictures = tuple(_picture(self.searched, int(i), side, str(mark)) for i, mark in near)
            shown = _picture(self.source, query, side)
            rows.append(QueryNeighbors(self.source.identity(query), shown, pictures))
        return rows

    def _plain(self, found: ModelNeighbors) -> dict[str, Any]:
        rows = zip(found.indices.tolist(), found.similarities.tolist(), strict=True)
        neighbors = [
            [
                {"image": self.searched.identity(index), "similarity": similarity}
                for index, similarity in zip(*row, strict=True)
            ]
            for row in rows
        ]
        return {"same_class": found.agreement, "neighbors": neighbors}


def neighbors(
    models: Sequence[ModelLike] | Mapping[str, ModelLike],
    data: Data,
    *,
    queries: int | Sequence[str] = 8,
    neighbors: int = 6,
    seed: int = 0,
    against: Data | None = None,
    spaces: Sequence[str] | None = None,
    size: int | None = None,
    mean: tuple[float, float, float] | None = None,
    std: tuple[float, float, float] | None = None,
    console: Console | None = None,
    workers: int = 0,
) -> NeighborComparison:
    """Find the nearest neighbors of some images according to each model.

    Args:
        models: specs as in `load_model`, or loaded models; a mapping gives them names.
        data: the data of the queries.
        queries: number of queries, chosen at random; or their names (paths inside the data, or
            the last parts of such paths).
        neighbors: number of neighbors of each query.
        against: the data to search for neighbors; by default the other images of `data`.
        spaces: use only these spaces, in those of the models that have any.
        size, mean, std: preprocessing, instead of what each model states.
    """
    given = models_by_name(models)
    if not given:
        raise UsageError("neighbors needs at least one model")
    stated = {"size": size, "mean": mean, "std": std}
    loaded = dict(_loaded(name, model, spaces, stated) for name, model in given.items())
    if spaces and not any(model.spaces for model in loaded.values()):
        raise UsageError(f"none of the models has spaces, so {', '.join(spaces)} cannot be used")
    source = open_data(data)
    searched = source if against is None else open_data(against)
    shown = console or Console(stderr=True)
    banks = {n: features_of(model, searched, n, shown, workers) for n, model in loaded.items()}
    features = banks
    if searched is not source:
        features = {n: features_of(model, source, n, shown, workers) for n, model in loaded.items()}
    readable = reduce(np.intersect1d, [one.indices for one in features.values()])
    chosen = _chosen(queries, source, readable, seed)
    same_images = searched.fingerprint() == source.fingerprint()
    comparable = source.labels is not None and source.classes == searched.classes
    found = {
        name: nearest(features[name], banks[name], chosen, neighbors, same_images, comparable)
        for name in loaded
    }
    return NeighborComparison(source, searched, chosen, found)


def nearest(
    features: Features,
    bank: Features,
    queries: Indices,
    count: int,
    same_images: bool,
    labeled: bool,
) -> ModelNeighbors:
    """The `count` images of a bank whose features have the largest cosines with the queries'.

    Queries are indices in the data of `features`. With `same_images` the bank is of the same data,
    and a query is not its own neighbor. Among equal cosines the image with the lowest index comes
    first.
    """
    available = len(bank.indices) - same_images
    if not 1 <= count <= available:
        raise UsageError(f"neighbors must be from 1 to {available}, not {count}")
    rows = np.searchsorted(features.indices, queries)
    cosines = unit_rows(features.values[rows]) @ unit_rows(bank.values).T  # (Q, N)
    if same_images:
        cosines[queries[:, None] == bank.indices] = -np.inf
    order = np.argsort(-cosines, axis=1, kind="stable")[:, :count]
    same = None
    if labeled:
        same = bank.required_labels()[order] == features.required_labels()[rows][:, None]
    similarities = np.take_along_axis(cosines, order, axis=1).astype(np.float64)
    return ModelNeighbors(bank.indices[order], similarities.clip(-1, 1), same)


def nearest_rows(values: NDArray[np.float32], count: int) -> tuple[Indices, NDArray[np.float64]]:
    """Rows (N, `count`) of the features (N, D) nearest to each row, and their cosines."""
    rows = np.arange(len(values))
    bank = Features(values, None, None, rows)
    found = [
        nearest(bank, bank, rows[start : start + _CHUNK], count, True, False)
        for start in range(0, len(rows), _CHUNK)
    ]
    near = np.concatenate([one.indices for one in found])
    return near, np.concatenate([one.similarities for one in found])


def unit_rows(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows (N, D) scaled to unit length; rows of zeros stay as they are."""
    length = np.linalg.norm(values, axis=1, keepdims=True)
    return values / np.maximum(length, np.finfo(np.float32).tiny)


def _loaded(
    name: str, model: ModelLike, spaces: Sequence[str] | None, stated: dict[str, Any]
) -> tuple[str, LoadedModel]:
    """A model and its name, which mentions the spaces if any were chosen."""
    if isinstance(model, LoadedModel):
        loaded = model
    elif not is_run(model):
        loaded = load_model(model, **stated)
    else:
        from unshortcut.spaces.loading import has_spaces, load_spaces  # imports Lightning

        loaded = load_spaces(model) if spaces and has_spaces(model) else load_model(model)
    if not spaces or loaded.spaces is None:
        return name, loaded
    chosen = select_spaces(loaded, spaces)
    return f"{name} ({' + '.join(chosen.spaces or ())})", chosen


def _chosen(
    queries: int | Sequence[str], source: ImageSource, readable: Indices, seed: int
) -> Indices:
    """The indices (Q,) of the queries."""
    if isinstance(queries, int):
        if not 1 <= queries <= len(readable):
            raise UsageError(f"queries must be from 1 to {len(readable)}, not {queries}")
        return np.asarray(generator(seed, "neighbours").permutation(readable)[:queries])
    if not queries:
        raise UsageError("queries must name at least one image")
    indices = {source.identity(int(index)): int(index) for index in readable}
    return np.array([indices[_identity(query, list(indices))] for query in queries])


def _identity(given: str, known: Sequence[str]) -> str:
    """The identity that equals the given name or ends in it."""
    found = [one for one in known if f"/{one}".endswith(f"/{given}")]
    found = [given] if given in found else found
    if len(found) > 1:
        raise UsageError(f"'{given}' can be {found[0]} or {found[1]}: give more of its path")
    if not found:
        near = get_close_matches(given, known, n=1, cutoff=0.3) or known[:1]
        raise UsageError(f"there is no image '{given}' in the data; did you mean '{near[0]}'?")
    return found[0]


def _picture(source: ImageSource, index: int, side: int, mark: str = "") -> Picture:
    """An image with its class as caption, decoded no finer than it is shown."""
    image = source.image(index)
    pixels = image.pixels(max(1.0, max(image.height, image.width) / side))
    caption = ""
    if source.labels is not None and source.classes is not None:
        caption = source.classes[source.labels[index]]
    return picture(pixels, caption, mark, side=side, quality=90)


def _shortened(title: str, letters: int) -> str:
    """The end of a long title, which tells runs in one folder apart."""
    return title if len(title) <= letters else f"…{title[1 - letters :]}"
