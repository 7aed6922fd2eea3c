"""The images that a model finds most alike, and whether they are of one class (LooC, figure 3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unshortcut.inference.features import Features
from unshortcut.measurements.measurement import Finding, Measurement, Metric
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.estimates.estimate import Estimate
from unshortcut.measuring.exhibits import Exhibit, Note, Picture, Pictures, Plot, picture
from unshortcut.measuring.nearest import nearest
from unshortcut.measuring.plots import Bars, bars
from unshortcut.measuring.subjects.images import Prepared
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent
from unshortcut.progress import OnProgress

NEIGHBORS = 5
"""Of each image."""
QUERIES = 8
"""Images whose neighbors are shown."""
NOTICED = 0.5
"""A verdict mentions an agreement below it."""
SIDE = 96
"""Of the pictures, at most."""
_CHUNK = 256
"""Queries that are compared with all images at once; bounds the memory."""


@dataclass(frozen=True)
class Query:
    """An image and its neighbors."""

    identity: str
    shown: Picture
    neighbors: tuple[Picture, ...]
    """The nearest first."""


@dataclass(frozen=True)
class Agreement:
    """How often neighbors are of one class."""

    share: Estimate
    """Of the neighbors of all images, those of the image's own class."""
    chance: float
    """The same share if neighbors were drawn at random."""


@dataclass(frozen=True)
class NeighborsResult:
    """The neighbors of a model's images."""

    images: int
    """That were searched; each was a query as well."""
    agreement: Agreement | None
    """None without labels."""
    queries: tuple[Query, ...]
    """Some of the images."""


class Neighbors(Measurement[NeighborsResult]):
    """Nearest neighbors in feature space."""

    name = "neighbors"
    title = "Neighbors"
    question = "Which images does the model find most alike?"
    definition = (
        f"For each image the {NEIGHBORS} others whose features have the largest cosine with its "
        "own. Agreement is the share of these neighbors that are of the image's class, over all "
        "images; its interval is a bootstrap over images. What the neighbors of an image share "
        "with it, color, texture, pose or object, is what the representation has kept (Xiao et "
        "al. 2021, figure 3)."
    )
    place = 120
    gives = ("neighbor_agreement",)
    result = NeighborsResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> NeighborsResult:
        images = subject.unlabeled()
        if len(images) <= NEIGHBORS:
            raise NotApplicable(
                f"{NEIGHBORS} neighbors need at least {NEIGHBORS + 1} images; the data have "
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

    def metrics(
        self, result: NeighborsResult, baseline: NeighborsResult | None
    ) -> dict[str, Metric]:
        if result.agreement is None:
            return {}
        return {
            "neighbor_agreement": Metric.of(
                "Neighbors of the same class",
                result.agreement.share,
                better="higher",
                note=f"{percent(result.agreement.chance)} by chance",
            )
        }

    def exhibits(
        self, results: Mapping[str, NeighborsResult], baseline: NeighborsResult | None
    ) -> Sequence[Exhibit]:
        images = max(result.images for result in results.values())
        shown: list[Exhibit] = [
            Note(f"Neighbors are looked for among {images} images, each of which is a query.")
        ]
        found = {
            name: result.agreement
            for name, result in results.items()
            if result.agreement is not None
        }
        if found:
            shown.append(_bars(found))
        return [*shown, _sheet(results)]

    def finding(self, result: NeighborsResult) -> Finding | None:
        if result.agreement is None or not result.agreement.share.high < NOTICED:
            return None
        other = 1 - result.agreement.share.value
        text = f"finds {percent(other)} of an image's nearest neighbors in other classes"
        return Finding(text, 0.3 * min(1.0, other / (1 - result.agreement.chance)))


def neighbor_rows(features: NDArray[np.float32]) -> NDArray[np.int64]:
    """Rows (N, `NEIGHBORS`) of the features (N, D) nearest to each, the nearest first."""
    rows = np.arange(len(features))
    bank = Features(features, None, None, rows)
    found = [
        nearest(bank, bank, rows[start : start + _CHUNK], NEIGHBORS, True, False).indices
        for start in range(0, len(rows), _CHUNK)
    ]
    return np.concatenate(found)


def agreement(
    near: NDArray[np.int64], labels: NDArray[np.int64] | None, seed: int = 0
) -> Agreement | None:
    """How often the neighbors (N, K) of things with labels (N,) have their label.

    The interval is a bootstrap over images, because an image's neighbors are not independent.
    """
    if labels is None:
        return None
    same = (labels[near] == labels[:, None]).mean(axis=1, dtype=np.float64)
    counts, n = np.bincount(labels), len(labels)
    chance = float((counts * (counts - 1)).sum() / (n * (n - 1)))
    return Agreement(Estimate.mean_share(same, seed=seed), chance)


def _query(images: Prepared, row: int, near: NDArray[np.int64]) -> Query:
    def shown(place: int, mark: str = "") -> Picture:
        name = "" if images.labels is None else images.classes[images.labels[place]]
        return picture(images.pixels(place), name, mark, side=SIDE)

    def mark(place: int) -> str:
        if images.labels is None:
            return ""
        return "good" if images.labels[place] == images.labels[row] else "bad"

    found = tuple(shown(place, mark(place)) for place in near[row].tolist())
    return Query(images.identity(row), shown(row), found)


def _bars(found: Mapping[str, Agreement]) -> Plot:
    series = {name: Bars.of([one.share]) for name, one in found.items()}
    chance = next(iter(found.values())).chance
    return Plot(
        "Neighbors of the same class",
        bars(["all images"], series, "share of neighbors", level=("chance", chance)),
        f"The share of the {NEIGHBORS} nearest neighbors that are of the image's class; 95 % "
        "intervals.",
        height=300,
    )


def _sheet(results: Mapping[str, NeighborsResult]) -> Exhibit:
    """A row a query; in it the query, then its neighbors by each model."""
    asked = [{query.identity: query for query in result.queries} for result in results.values()]
    rows = tuple(
        (identity, (first.shown, *(one for own in asked for one in own[identity].neighbors)))
        for identity, first in asked[0].items()
        if all(identity in own for own in asked)
    )
    if not rows:
        return Note("The models can name different classes, and have no images to show in common.")
    titles = [f"{name}: {rank}" for name in results for rank in range(1, NEIGHBORS + 1)]
    labeled = any(result.agreement is not None for result in results.values())
    return Pictures(
        "Nearest neighbors",
        rows,
        ("query", *titles),
        "The nearest first." + (" Frames say whether the class is the query's." * labeled),
    )
