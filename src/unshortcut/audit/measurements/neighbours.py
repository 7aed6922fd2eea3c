"""The images that a model finds most alike, and whether they are of one class (LooC, figure 3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unshortcut.audit.errors import NotApplicable
from unshortcut.audit.estimates.estimate import Estimate
from unshortcut.audit.exhibits import Exhibit, Note, Picture, Pictures, Plot, picture
from unshortcut.audit.measurement import Finding, Measurement, Metric
from unshortcut.audit.neighbours import nearest
from unshortcut.audit.plots import Bars, bars
from unshortcut.audit.subjects.images import Prepared
from unshortcut.audit.subjects.subject import Subject
from unshortcut.audit.words import percent
from unshortcut.probes.features import Features
from unshortcut.progress import OnProgress

NEIGHBOURS = 5
"""Of each image."""
QUERIES = 8
"""Images whose neighbours are shown."""
NOTICED = 0.5
"""A verdict mentions an agreement below it."""
SIDE = 96
"""Of the pictures, at most."""
_CHUNK = 256
"""Queries that are compared with all images at once; bounds the memory."""


@dataclass(frozen=True)
class Query:
    """An image and its neighbours."""

    identity: str
    shown: Picture
    neighbours: tuple[Picture, ...]
    """The nearest first."""


@dataclass(frozen=True)
class Agreement:
    """How often neighbours are of one class."""

    share: Estimate
    """Of the neighbours of all images, those of the image's own class."""
    chance: float
    """The same share if neighbours were drawn at random."""


@dataclass(frozen=True)
class NeighboursResult:
    """The neighbours of a model's images."""

    images: int
    """That were searched; each was a query as well."""
    agreement: Agreement | None
    """None without labels."""
    queries: tuple[Query, ...]
    """Some of the images."""


class Neighbours(Measurement[NeighboursResult]):
    """Nearest neighbours in feature space."""

    name = "neighbours"
    title = "Neighbours"
    question = "Which images does the model find most alike?"
    definition = (
        f"For each image the {NEIGHBOURS} others whose features have the largest cosine with its "
        "own. Agreement is the share of these neighbours that are of the image's class, over all "
        "images; its interval is a bootstrap over images. What the neighbours of an image share "
        "with it, colour, texture, pose or object, is what the representation has kept (Xiao et "
        "al. 2021, figure 3)."
    )
    place = 120
    gives = ("neighbour_agreement",)
    result = NeighboursResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> NeighboursResult:
        images = subject.unlabelled()
        if len(images) <= NEIGHBOURS:
            raise NotApplicable(
                f"{NEIGHBOURS} neighbours need at least {NEIGHBOURS + 1} images; the data have "
                f"{len(images)}"
            )
        features = subject.features(images, on_progress=on_progress)
        near = neighbour_rows(features)
        queries = images.some(QUERIES, subject.settings.seed).indices
        return NeighboursResult(
            len(images),
            agreement(near, images.labels, subject.settings.seed),
            tuple(_query(images, row, near) for row in np.searchsorted(images.indices, queries)),
        )

    def metrics(
        self, result: NeighboursResult, baseline: NeighboursResult | None
    ) -> dict[str, Metric]:
        if result.agreement is None:
            return {}
        return {
            "neighbour_agreement": Metric.of(
                "Neighbours of the same class",
                result.agreement.share,
                better="higher",
                note=f"{percent(result.agreement.chance)} by chance",
            )
        }

    def exhibits(
        self, results: Mapping[str, NeighboursResult], baseline: NeighboursResult | None
    ) -> Sequence[Exhibit]:
        images = max(result.images for result in results.values())
        shown: list[Exhibit] = [
            Note(f"Neighbours are looked for among {images} images, each of which is a query.")
        ]
        found = {
            name: result.agreement
            for name, result in results.items()
            if result.agreement is not None
        }
        if found:
            shown.append(_bars(found))
        return [*shown, _sheet(results)]

    def finding(self, result: NeighboursResult) -> Finding | None:
        if result.agreement is None or not result.agreement.share.high < NOTICED:
            return None
        other = 1 - result.agreement.share.value
        text = f"finds {percent(other)} of an image's nearest neighbours in other classes"
        return Finding(text, 0.3 * min(1.0, other / (1 - result.agreement.chance)))


def neighbour_rows(features: NDArray[np.float32]) -> NDArray[np.int64]:
    """Rows (N, `NEIGHBOURS`) of the features (N, D) nearest to each, the nearest first."""
    rows = np.arange(len(features))
    bank = Features(features, None, None, rows)
    found = [
        nearest(bank, bank, rows[start : start + _CHUNK], NEIGHBOURS, True, False).indices
        for start in range(0, len(rows), _CHUNK)
    ]
    return np.concatenate(found)


def agreement(
    near: NDArray[np.int64], labels: NDArray[np.int64] | None, seed: int = 0
) -> Agreement | None:
    """How often the neighbours (N, K) of things with labels (N,) have their label.

    The interval is a bootstrap over images, because an image's neighbours are not independent.
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
        "Neighbours of the same class",
        bars(["all images"], series, "share of neighbours", level=("chance", chance)),
        f"The share of the {NEIGHBOURS} nearest neighbours that are of the image's class; 95 % "
        "intervals.",
        height=300,
    )


def _sheet(results: Mapping[str, NeighboursResult]) -> Exhibit:
    """A row a query; in it the query, then its neighbours by each model."""
    asked = [{query.identity: query for query in result.queries} for result in results.values()]
    rows = tuple(
        (identity, (first.shown, *(one for own in asked for one in own[identity].neighbours)))
        for identity, first in asked[0].items()
        if all(identity in own for own in asked)
    )
    if not rows:
        return Note("The models can name different classes, and have no images to show in common.")
    titles = [f"{name}: {rank}" for name in results for rank in range(1, NEIGHBOURS + 1)]
    labelled = any(result.agreement is not None for result in results.values())
    return Pictures(
        "Nearest neighbours",
        rows,
        ("query", *titles),
        "The nearest first." + (" Frames say whether the class is the query's." * labelled),
    )
