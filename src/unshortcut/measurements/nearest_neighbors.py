"""Neighbors: the images that a model finds most similar, and whether they have the same class."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unshortcut.measurements.measurement import Finding, Metric, Metrics, OnPlainImages
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.estimates import Estimate
from unshortcut.measuring.exhibits import (
    Exhibit,
    Note,
    Picture,
    Pictures,
    Plot,
    picture,
    rows_each,
)
from unshortcut.measuring.nearest import nearest_rows
from unshortcut.measuring.neighbor_sheet import QueryNeighbors, neighbor_pictures
from unshortcut.measuring.plots import Bars, bars
from unshortcut.measuring.subjects.images import Prepared
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent
from unshortcut.progress import OnProgress

NEIGHBORS = 5
"""Number of neighbors of each image."""
QUERIES = 8
"""Number of images whose neighbors are shown."""
NOTABLE = 0.5
"""The verdict mentions an agreement below this."""


@dataclass(frozen=True)
class Agreement:
    """How often neighbors have the same class."""

    share: Estimate
    """Share of all images' neighbors that have the class of the image."""
    chance: float
    """The same share for neighbors chosen at random."""


@dataclass(frozen=True)
class NeighborsResult:
    """The nearest neighbors that a model finds among the images."""

    num_images: int
    """Images searched, each of which is also a query."""
    agreement: Agreement | None
    """None without labels."""
    queries: tuple[QueryNeighbors, ...]
    """Some of the images, to be shown."""


class Neighbors(OnPlainImages[NeighborsResult]):
    """Nearest neighbors in feature space."""

    name = "neighbors"
    title = "Neighbors"
    question = "Which images does the model find most similar?"
    definition = (
        f"The neighbors of an image are the {NEIGHBORS} other images whose features have the "
        "largest cosine similarity with its own. Agreement is the share of all images' neighbors "
        "that have the class of the image; its interval is a bootstrap over images. What an image "
        "and its neighbors have in common, e.g. color, texture, pose or object, is what the "
        "representation has kept (Xiao et al. 2021, figure 3)."
    )
    order = 120
    gives = ("neighbor_agreement",)
    result = NeighborsResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> NeighborsResult:
        images = subject.unlabeled()
        if len(images) <= NEIGHBORS:
            raise NotApplicable(
                f"{NEIGHBORS} neighbors need at least {NEIGHBORS + 1} images; the data has "
                f"{len(images)}"
            )
        features = subject.features(images, on_progress=on_progress)
        near = neighbor_rows(features)
        queries = images.some(QUERIES, subject.settings.seed).indices
        return NeighborsResult(
            len(images),
            agreement(near, images.labels, subject.settings.seed),
            tuple(_query(images, row, near) for row in np.searchsorted(images.indices, queries)),
        )

    def metrics(self, result: NeighborsResult, baseline: NeighborsResult | None) -> Metrics:
        if result.agreement is None:
            return {}
        label, note = "Neighbors of the same class", f"{percent(result.agreement.chance)} by chance"
        share = Metric.of(label, result.agreement.share, better="higher", note=note)
        return {"neighbor_agreement": share}

    def exhibits(
        self, results: Mapping[str, NeighborsResult], baseline: NeighborsResult | None
    ) -> list[Exhibit]:
        num_images = max(result.num_images for result in results.values())
        shown: list[Exhibit] = [
            Note(f"Neighbors are searched among {num_images} images, each of which is a query.")
        ]
        found = {name: one.agreement for name, one in results.items() if one.agreement is not None}
        if found:
            series = {name: Bars.of([one.share]) for name, one in found.items()}
            levels = {"chance": next(iter(found.values())).chance}
            figure = bars(["all images"], series, "share of neighbors", levels=levels)
            caption = (
                f"Share of the {NEIGHBORS} nearest neighbors that have the class of the image, "
                "with 95 % intervals."
            )
            shown.append(Plot("Neighbors of the same class", figure, caption, height=300))
        sheet = _sheet({name: result.queries for name, result in results.items()})
        if sheet.rows:
            return [*shown, sheet]
        return [*shown, Note("The models know different classes and share no images to show.")]

    def finding(self, result: NeighborsResult) -> Finding | None:
        if result.agreement is None or not result.agreement.share.high < NOTABLE:
            return None
        other = 1 - result.agreement.share.value
        text = f"finds {percent(other)} of an image's nearest neighbors in other classes"
        weight = 0.3 * min(1.0, other / (1 - result.agreement.chance))
        return Finding(text, weight, "finds images of other classes most similar")


def _sheet(models: Mapping[str, Sequence[QueryNeighbors]]) -> Pictures:
    """The neighbors of the queries that all models have; those of several models one by one."""
    if len(models) == 1:
        return neighbor_pictures(models)
    known = [{query.identity: query for query in own} for own in models.values()]
    common = [identity for identity in known[0] if all(identity in own for own in known)]
    rows = tuple(
        (name, (own[identity].shown, *own[identity].neighbors))
        for identity in common[: rows_each(QUERIES, len(models))]
        for name, own in zip(models, known, strict=True)
    )
    alone = neighbor_pictures({name: own[:1] for name, own in list(models.items())[:1]})
    columns = ("query", *(str(rank) for rank in range(1, NEIGHBORS + 1)))
    return replace(alone, rows=rows, columns=columns)


def neighbor_rows(features: NDArray[np.float32]) -> NDArray[np.int64]:
    """Rows (N, `NEIGHBORS`) of the features (N, D) nearest to each, the nearest first."""
    return nearest_rows(features, NEIGHBORS)[0]


def agreement(
    near: NDArray[np.int64], labels: NDArray[np.int64] | None, seed: int = 0
) -> Agreement | None:
    """How often the neighbors (N, K) of images with labels (N,) have the label of the image.

    The interval is a bootstrap over images, because the neighbors of an image are not independent.
    """
    if labels is None:
        return None
    same = (labels[near] == labels[:, None]).mean(axis=1, dtype=np.float64)
    counts, n = np.bincount(labels), len(labels)
    chance = float((counts * (counts - 1)).sum() / (n * (n - 1)))
    return Agreement(Estimate.mean_share(same, seed=seed), chance)


def _query(images: Prepared, row: int, near: NDArray[np.int64]) -> QueryNeighbors:
    def shown(index: int) -> Picture:
        if images.labels is None:
            return picture(images.pixels(index))
        label = images.labels[index]
        mark = "" if index == row else "good" if label == images.labels[row] else "bad"
        return picture(images.pixels(index), images.classes[label], mark)

    return QueryNeighbors(images.identity(row), shown(row), tuple(map(shown, near[row].tolist())))
