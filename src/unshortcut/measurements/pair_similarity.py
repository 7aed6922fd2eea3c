"""Similarity: whether a model confuses an image with its shuffled patches or its texture."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from unshortcut.measurements.measurement import Finding, Measurement, Metric, Metrics
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.estimates import Estimate
from unshortcut.measuring.exhibits import MODEL, Column, Exhibit, Note, Plot, Table
from unshortcut.measuring.pair_distributions import PAIR_TITLES, Distribution, cosine_histograms
from unshortcut.measuring.pairs import KINDS, Cosines, pair_transforms
from unshortcut.measuring.passes import Passes
from unshortcut.measuring.settings import Limit
from unshortcut.measuring.similarities import pair_similarities
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent
from unshortcut.progress import OnProgress

MAX_IMAGES = Limit(quick=64, standard=256)
"""Making the textures of the images takes the longest."""
SHUFFLED = ("patch", "texture")
"""Kinds of pairs whose second image has the texture of the first, but not its shape."""
NOTABLE = 0.5
"""Smallest likeness of shuffled patches that the verdict mentions."""


@dataclass(frozen=True)
class PairSimilarity:
    """The cosines of one kind of pair."""

    mean: Estimate
    distribution: Distribution


@dataclass(frozen=True)
class PairsResult:
    """The similarities that one model finds between views."""

    num_images: int
    kinds: dict[str, PairSimilarity]
    """Cosines by kind of pair."""
    likeness: dict[str, Estimate]
    """By kind of `SHUFFLED`: 0 is as dissimilar as another image, 1 as similar as another view; NaN
    if the model finds another view no more similar than another image."""


class Similarity(Measurement[PairsResult]):
    """Cosine similarities of features in positive, negative, patch and texture pairs."""

    name = "similarity"
    title = "Similarity"
    question = "Does the model confuse an image with its shuffled patches?"
    definition = (
        "The cosine similarity between the features of a random view of an image and those of four "
        "others: another view of the image, a view of another image, the texture of the image "
        "(synthesized from patches of it), and the view's own patches, shuffled (Ge et al. 2021, "
        "figures 2 and 3). Views are made with the augmentations of MoCo-v2 for all models. The "
        "likeness of shuffled patches is (patch - negative) / (positive - negative): 0 % means as "
        "dissimilar as another image, 100 % as similar as another view. It is near 0 % for a model "
        "that recognizes shape. Features are the output of the encoder, so that all models can be "
        "compared; `unshortcut similarity` can also use the embedding space of a run."
    )
    order = 110
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
        if len(subject.data) < 2:
            raise NotApplicable("pairs of different images need at least two images")
        settings = subject.settings
        cosines = pair_similarities(
            subject.model,
            subject.data,
            count=_num_images(subject),
            seed=settings.seed,
            on_progress=on_progress,
        )
        return pairs_result(cosines, settings.seed)

    def passes(self, subject: Subject) -> Passes:
        return Passes(changed=len(pair_transforms(KINDS)) * _num_images(subject))

    def metrics(self, result: PairsResult, baseline: PairsResult | None) -> Metrics:
        likeness = {
            f"similarity_{kind}_likeness": Metric.of(
                f"Likeness of {PAIR_TITLES[kind]}",
                found,
                better="lower",
                headline=kind == "patch",
                note="0 % is as dissimilar as another image, 100 % as similar as another view",
            )
            for kind, found in result.likeness.items()
        }
        means = {
            f"similarity_{kind}": Metric.of(
                f"Cosine with {PAIR_TITLES[kind]}", pairs.mean, percent=False, headline=False
            )
            for kind, pairs in result.kinds.items()
        }
        return likeness | means

    def exhibits(
        self, results: Mapping[str, PairsResult], baseline: PairsResult | None
    ) -> list[Exhibit]:
        num_images = max(result.num_images for result in results.values())
        distributions = {
            name: {kind: pairs.distribution for kind, pairs in result.kinds.items()}
            for name, result in results.items()
        }
        return [
            Note(
                f"{num_images} images, each with one pair of every kind. Models use feature space "
                "differently, so the cosines of two models are not directly comparable; the "
                "likeness is, because its scale is set by each model's negatives and positives."
            ),
            Plot(
                "Cosine similarity to a view of an image",
                cosine_histograms(distributions),
                "Share of the pairs by cosine, with one panel per kind of pair.",
                height=640,
            ),
            _table(results),
        ]

    def finding(self, result: PairsResult) -> Finding | None:
        found = result.likeness["patch"]
        if not found.low >= NOTABLE:
            return None
        similar = "more similar to the image than another view of it"
        if found.low <= 1:
            similar = f"{percent(found.value)} as similar to the image as another view of it"
        text = f"finds an image's shuffled patches {similar}"
        brief = "hardly tells an image from its shuffled patches"
        return Finding(text, 0.6 * min(1.0, found.value), brief)


def _num_images(subject: Subject) -> int:
    count, most = len(subject.data), subject.settings.at_most(MAX_IMAGES)
    return count if most is None else min(count, most)


def pairs_result(cosines: Cosines, seed: int = 0) -> PairsResult:
    """The result for the cosines (n,) of each kind of pair, where entry i is the same image."""
    kinds = {
        kind: PairSimilarity(Estimate.mean(values, seed=seed), Distribution.of(values))
        for kind, values in cosines.items()
    }
    positive, negative = cosines["positive"], cosines["negative"]

    def likeness(kind: str, rows: NDArray[np.int64]) -> float:
        zero = float(negative[rows].mean())
        one = float(positive[rows].mean()) - zero
        part = float(cosines[kind][rows].mean()) - zero
        return part / one if one > 0 else float("nan")

    n = len(positive)
    found = {kind: Estimate.of(partial(likeness, kind), n, seed=seed) for kind in SHUFFLED}
    return PairsResult(n, kinds, found)


def _table(results: Mapping[str, PairsResult]) -> Table:
    columns = (
        Column("Pair"),
        MODEL,
        *Column.estimate("Mean", tip="mean of the cosines", of="mean"),
        Column("Std", tip="standard deviation of the cosines"),
    )
    rows = []
    for kind in KINDS:
        for name, result in results.items():
            pairs = result.kinds[kind]
            rows.append((PAIR_TITLES[kind], name, *astuple(pairs.mean), pairs.distribution.std))
    return Table("Mean cosines", columns, rows)
