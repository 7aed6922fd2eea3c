"""The images that models find most alike, side by side (LooC, figure 3).

The nearest neighbors of an image show what a representation has kept: colors, orientations or
textures that its neighbors share with it. They are the largest cosines of features; an image is
never its own neighbor.
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
from unshortcut.measuring.neighbor_sheet import Block, neighbor_sheet
from unshortcut.measuring.subjects.models import by_name
from unshortcut.measuring.wording import percent
from unshortcut.models.load import LoadedModel, ModelLike, load_model
from unshortcut.probes.prepare import Data, features_of
from unshortcut.randomness import generator
from unshortcut.spaces.loading import has_spaces, load_spaces
from unshortcut.spaces.subsets import select_spaces
from unshortcut.training.folder import is_run

Places = NDArray[np.int64]


@dataclass(frozen=True)
class Found:
    """One model's neighbors, the nearest first."""

    indices: Places
    """(Q, K) positions in the data that were searched."""
    similarities: NDArray[np.float64]
    """(Q, K) cosines."""
    same_class: NDArray[np.bool_] | None
    """(Q, K): whether the neighbor has the query's class; None without labels."""

    @property
    def agreement(self) -> float | None:
        """The share of neighbors that have their query's class, 0 to 1."""
        return None if self.same_class is None else float(self.same_class.mean())


@dataclass(frozen=True)
class Neighbors:
    """The neighbors of the same queries by several models."""

    source: ImageSource
    """Where the queries are from."""
    searched: ImageSource
    """Where the neighbors are from."""
    queries: Places
    """(Q,) positions in `source`."""
    models: dict[str, Found]

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return {
            "queries": [self.source.identity(int(query)) for query in self.queries],
            "models": {name: self._plain(found) for name, found in self.models.items()},
        }

    def sheet(self, *, side: int = 96) -> PillowImage.Image:
        """A picture: a row a query with its class at left, then its neighbors by each model.

        Green frames are neighbors of the query's class, red ones are others.
        """
        labels, classes = self.source.labels, self.source.classes
        titles = (
            []
            if labels is None or classes is None
            else [classes[labels[query]] for query in self.queries]
        )
        blocks = [
            Block(
                name
                if found.agreement is None
                else f"{name}: {percent(found.agreement)} of the query's class",
                [[self.searched.image(int(place)) for place in row] for row in found.indices],
                found.same_class,
            )
            for name, found in self.models.items()
        ]
        queries = [self.source.image(int(query)) for query in self.queries]
        return neighbor_sheet(titles, queries, blocks, side=side)

    def _plain(self, found: Found) -> dict[str, Any]:
        rows = [[self.searched.identity(int(place)) for place in row] for row in found.indices]
        return {
            "same_class": found.agreement,
            "neighbors": [
                [
                    {"image": identity, "similarity": similarity}
                    for identity, similarity in zip(row, similarities, strict=True)
                ]
                for row, similarities in zip(rows, found.similarities.tolist(), strict=True)
            ],
        }


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
) -> Neighbors:
    """The nearest neighbors of some images, as each model finds them.

    Args:
        models: specs as in `load_model`, or loaded models; a mapping gives them names.
        data: where the queries are from.
        queries: how many, drawn at random; or their names (paths inside the data, or the ends of
            such).
        neighbors: how many of each query.
        against: where neighbors are looked for; by default among the other images of `data`.
        spaces: look in these spaces alone, in those of the models that have any.
        size, mean, std: the preprocessing of models that are no runs, where no card states it.
    """
    given = dict(models) if isinstance(models, Mapping) else by_name(models)
    if not given:
        raise UsageError("neighbors needs at least one model")
    stated = {"size": size, "mean": mean, "std": std}
    loaded = dict(_loaded(name, model, spaces, stated) for name, model in given.items())
    if spaces and not any(model.spaces for model in loaded.values()):
        raise UsageError(
            f"spaces are asked for, {', '.join(spaces)}, and none of the models has any"
        )
    source = open_data(data)
    searched = source if against is None else open_data(against)
    shown = console or Console(stderr=True)
    banks = {n: features_of(model, searched, n, shown, workers) for n, model in loaded.items()}
    asked = banks
    if searched is not source:
        asked = {n: features_of(model, source, n, shown, workers) for n, model in loaded.items()}
    readable = reduce(np.intersect1d, [one.indices for one in asked.values()])
    chosen = _chosen(queries, source, readable, seed)
    same_images = searched.fingerprint() == source.fingerprint()
    comparable = source.labels is not None and source.classes == searched.classes
    found = {
        name: nearest(asked[name], banks[name], chosen, neighbors, same_images, comparable)
        for name in loaded
    }
    return Neighbors(source, searched, chosen, found)


def nearest(
    asked: Features, bank: Features, queries: Places, count: int, same_images: bool, labeled: bool
) -> Found:
    """The `count` images of a bank whose features have the largest cosines with the queries'.

    Queries are positions in the source of `asked`; with `same_images` that is the bank's as well,
    and a query is left out of its own neighbors. Of equal cosines the earliest image comes first.
    """
    available = len(bank.indices) - same_images
    if not 1 <= count <= available:
        raise UsageError(f"neighbors must be from 1 to {available}, not {count}")
    rows = np.searchsorted(asked.indices, queries)
    cosines = _unit(asked.values[rows]) @ _unit(bank.values).T  # (Q, N)
    if same_images:
        cosines[queries[:, None] == bank.indices] = -np.inf
    order = np.argsort(-cosines, axis=1, kind="stable")[:, :count]
    same = None
    if labeled:
        same = bank.required_labels()[order] == asked.required_labels()[rows][:, None]
    similarities = np.take_along_axis(cosines, order, axis=1).astype(np.float64)
    return Found(bank.indices[order], similarities.clip(-1, 1), same)


def _unit(values: NDArray[np.float32]) -> NDArray[np.float32]:
    length = np.linalg.norm(values, axis=1, keepdims=True)
    return values / np.maximum(length, np.finfo(np.float32).tiny)


def _loaded(
    name: str, model: ModelLike, spaces: Sequence[str] | None, stated: dict[str, Any]
) -> tuple[str, LoadedModel]:
    """A model and its name, which says the spaces where they were chosen."""
    if isinstance(model, LoadedModel):
        loaded = model
    elif not is_run(model):
        loaded = load_model(model, **stated)
    else:
        loaded = load_spaces(model) if spaces and has_spaces(model) else load_model(model)
    if not spaces or loaded.spaces is None:
        return name, loaded
    chosen = select_spaces(loaded, spaces)
    return f"{name} ({' + '.join(chosen.spaces or ())})", chosen


def _chosen(
    queries: int | Sequence[str], source: ImageSource, readable: Places, seed: int
) -> Places:
    """(Q,) positions of the queries."""
    if isinstance(queries, int):
        if not 1 <= queries <= len(readable):
            raise UsageError(f"queries must be from 1 to {len(readable)}, not {queries}")
        return np.asarray(generator(seed, "neighbours").permutation(readable)[:queries])
    if not queries:
        raise UsageError("queries must name at least one image")
    places = {source.identity(int(place)): int(place) for place in readable}
    return np.array([places[_identity(query, list(places))] for query in queries])


def _identity(given: str, known: Sequence[str]) -> str:
    """The identity that is given, or whose end is."""
    found = [one for one in known if one == given] or [
        one for one in known if one.endswith(f"/{given}")
    ]
    if len(found) > 1:
        raise UsageError(f"'{given}' may be {found[0]} or {found[1]}: give more of its path")
    if not found:
        near = get_close_matches(given, known, n=1, cutoff=0.3) or known[:1]
        raise UsageError(f"there is no image '{given}' in the data; did you mean '{near[0]}'?")
    return found[0]
