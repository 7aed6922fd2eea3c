"""How alike a model finds an image and its shuffled patches (NSN, metrics 2 and 3)."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from unshortcut.measurements.measurement import Finding, Measurement, Metric
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.estimates.estimate import Estimate
from unshortcut.measuring.exhibits import MODEL, Column, Exhibit, Note, Plot, Table, interval
from unshortcut.measuring.pairs import KINDS, Cosines
from unshortcut.measuring.plots import color, plain
from unshortcut.measuring.similarities import EDGES, Distribution, pair_similarities
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent
from unshortcut.progress import OnProgress

MOST = 256
"""Images; making their textures takes the longest."""
SHUFFLED = ("patch", "texture")
"""Kinds of pairs in which the partner has the image's texture and not its shape."""
NOTICED = 0.5
"""The least likeness of shuffled patches that a verdict mentions."""
_TITLES = {
    "positive": "another view of the image",
    "negative": "another image",
    "texture": "the image's texture",
    "patch": "the image's patches, shuffled",
}


@dataclass(frozen=True)
class Pairs:
    """Cosines of one kind of pair."""

    mean: Estimate
    distribution: Distribution


@dataclass(frozen=True)
class PairsResult:
    """How alike one model finds pairs of views."""

    images: int
    kinds: dict[str, Pairs]
    """By kind of pair."""
    likeness: dict[str, Estimate]
    """By kind of `SHUFFLED`: 0 is as unlike as another image, 1 as alike as another view; NaN where
    the model finds another view no more alike than another image."""


class Similarity(Measurement[PairsResult]):
    """Cosines of features of positive, negative, patch and texture pairs."""

    name = "similarity"
    title = "Similarity"
    question = "Does the model take an image's shuffled patches for the image?"
    definition = (
        "Cosines of the model's features of a random view of an image with those of four others: "
        "another view of the image, a view of another image, the image's texture (synthesized from "
        "a patch of it), and the view's own patches, shuffled (Ge et al. 2021, metrics 2 and 3). "
        "The views have the augmentations of MoCo-v2 for all models. The likeness of shuffled "
        "patches is (patch - negative) / (positive - negative): 0 % is as unlike as another image, "
        "100 % as alike as another view; a model that reads shape is near 0 %. Features are what "
        "the encoder puts out, for all models, so that they compare; `unshortcut similarity` "
        "looks into the embedding space of a run as well."
    )
    place = 110
    gives = (
        "similarity_positive",
        "similarity_negative",
        "similarity_patch",
        "similarity_texture",
        "similarity_patch_likeness",
        "similarity_texture_likeness",
    )
    result = PairsResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> PairsResult:
        count = len(subject.data)
        if count < 2:
            raise NotApplicable("pairs of different images need at least two images")
        settings = subject.settings
        cosines = pair_similarities(
            subject.model,
            subject.data,
            count=count if settings.full else min(count, MOST),
            seed=settings.seed,
            on_progress=on_progress,
        )
        return pairs_result(cosines, settings.seed)

    def metrics(self, result: PairsResult, baseline: PairsResult | None) -> dict[str, Metric]:
        likeness = {
            f"similarity_{kind}_likeness": Metric.of(
                f"Likeness of {_TITLES[kind]}",
                found,
                better="lower",
                headline=kind == "patch",
                note="0 % is as unlike as another image, 100 % as alike as another view",
            )
            for kind, found in result.likeness.items()
        }
        means = {
            f"similarity_{kind}": Metric.of(
                f"Cosine with {_TITLES[kind]}", pairs.mean, percent=False, headline=False
            )
            for kind, pairs in result.kinds.items()
        }
        return likeness | means

    def exhibits(
        self, results: Mapping[str, PairsResult], baseline: PairsResult | None
    ) -> Sequence[Exhibit]:
        images = max(result.images for result in results.values())
        return [
            Note(
                f"{images} images, a pair of each kind for each. The widths of the histograms of "
                "two models do not compare where their features fill space differently; the "
                "likeness does, because it is counted from other images to other views."
            ),
            Plot(
                "Cosines with a view of an image",
                _histograms(results),
                "Shares of the pairs, by cosine; a panel for each kind of pair.",
                height=640,
            ),
            _table(results),
        ]

    def finding(self, result: PairsResult) -> Finding | None:
        found = result.likeness["patch"]
        if not found.low >= NOTICED:
            return None
        shuffled, view = "an image's shuffled patches", "another view of it"
        if found.low > 1:
            text = f"finds {shuffled} more alike than {view}"
        else:
            text = f"finds {shuffled} {percent(found.value)} as alike as {view}"
        return Finding(text, 0.6 * min(1.0, found.value))


def pairs_result(cosines: Cosines, seed: int = 0) -> PairsResult:
    """Cosines (n,) of all kinds of pairs, summed up; place i of each belongs to the same image."""
    kinds = {
        kind: Pairs(Estimate.mean(values, seed=seed), Distribution.of(values))
        for kind, values in cosines.items()
    }
    positive, negative = cosines["positive"], cosines["negative"]

    def likeness(kind: str) -> Estimate:
        def statistic(rows: NDArray[np.int64]) -> float:
            nothing = float(negative[rows].mean())
            all_of_it = float(positive[rows].mean()) - nothing
            part = float(cosines[kind][rows].mean()) - nothing
            return part / all_of_it if all_of_it > 0 else float("nan")

        return Estimate.of(statistic, len(positive), seed=seed)

    return PairsResult(len(positive), kinds, {kind: likeness(kind) for kind in SHUFFLED})


def _histograms(results: Mapping[str, PairsResult]) -> dict[str, Any]:
    """A panel a kind of pair, one above the other on the same axis; in it a line a model."""
    titles = [_TITLES[kind] for kind in KINDS]
    figure = make_subplots(
        rows=len(KINDS), cols=1, shared_xaxes=True, subplot_titles=titles, vertical_spacing=0.07
    )
    centers = ((EDGES[1:] + EDGES[:-1]) / 2).tolist()
    for row, kind in enumerate(KINDS, start=1):
        for name, result in results.items():
            counts = np.array(result.kinds[kind].distribution.histogram)
            figure.add_scatter(
                x=centers,
                y=(counts / counts.sum()).tolist(),
                name=name,
                legendgroup=name,
                showlegend=row == 1,
                mode="lines",
                line={"color": color(name), "shape": "hvh"},
                fill="tozeroy",
                hovertemplate="%{x:.2f}: %{y:.1%}",
                row=row,
                col=1,
            )
    figure.update_xaxes(range=[-1, 1])
    figure.update_xaxes(title_text="cosine", row=len(KINDS), col=1)
    figure.update_yaxes(tickformat=".0%", nticks=4)
    return plain(figure)


def _table(results: Mapping[str, PairsResult]) -> Table:
    columns = (
        Column("Pair"),
        MODEL,
        Column("Mean", tip="of the cosines"),
        *interval("mean"),
        Column("Spread", tip="standard deviation of the cosines"),
    )
    rows = tuple(
        (
            _TITLES[kind],
            name,
            *astuple(result.kinds[kind].mean),
            result.kinds[kind].distribution.std,
        )
        for kind in KINDS
        for name, result in results.items()
    )
    return Table("Mean cosines", columns, rows)
