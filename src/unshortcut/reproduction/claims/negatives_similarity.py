"""Patch negatives make images dissimilar to their tiles and textures (NSN, figures 3 and 13)."""

from collections.abc import Mapping, Sequence

from unshortcut.reproduction.claim import Axis, MeasureColumn, Scale, Variant
from unshortcut.reproduction.claims._negatives import SWEEP, NegativesClaim, alphas
from unshortcut.reproduction.effects import COSINE, Effect, Sign, difference, slope
from unshortcut.reproduction.measures.pair_similarity import SimilarityMeasure
from unshortcut.reproduction.registration import Registration

_PRINTED: Mapping[str, Mapping[str, float]] = {
    "0": {"patch": 0.4040, "texture_image": 0.4114},
    "1": {"positive": 0.9267},
    "2": {"patch": 0.3252, "texture_image": 0.3541},
    "3": {"patch": 0.1593, "texture_image": 0.1896},
    "5": {"patch": 0.1184, "positive": 0.7541},
}
_PRINTED_DIFFERENCES = {
    ("2", "positive"): -0.0068,
    ("2", "negative"): -0.0008,
    ("3", "positive"): -0.0737,
    ("3", "negative"): 0.0036,
}
"""Differences to alpha 0, whose own values are not printed. No recipe has a row for these."""
_TITLES = {
    "patch": "patch tiles",
    "texture_image": "texture image",
    "positive": "positive",
    "negative": "other image",
}


class NegativesSimilarity(NegativesClaim):
    """The trainings of `negatives-alpha`, by the cosine similarities of pairs of images."""

    name = "negatives-similarity"
    summary = "with alpha, images become dissimilar to their patch tiles and to their textures"
    where = "non-semantic negatives, figures 3 and 13"
    x = "alpha"
    columns = (
        *(MeasureColumn(kind, title, title, digits=3) for kind, title in _TITLES.items()),
        *(
            MeasureColumn(f"features_{kind}", f"{title}, features", digits=3)
            for kind, title in _TITLES.items()
        ),
    )
    measures = (SimilarityMeasure(),)
    notes = (
        "Mean cosine similarities to the query, of embeddings (encoder and head, on which the loss "
        "is computed) and of features (encoder). Nothing is predicted for features and for other "
        "images.",
    )
    registration = Registration(
        order=2,
        seeds=6,
        arms=("alpha=0", "alpha=2", "alpha=3"),
        primary=difference("texture_image", "alpha=3", "alpha=0", -1, margin=COSINE),
    )

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        return (alphas(*SWEEP),)

    def paper(self, values: Mapping[str, str]) -> Mapping[str, float]:
        return _PRINTED.get(values["alpha"], {})

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        positions = {variant.label: float(variant.values["alpha"]) for variant in variants}
        base = next((label for label, alpha in positions.items() if alpha == 0), None)
        found: list[Effect] = []
        for measure in (column.measure for column in self.columns):
            predicted: Sign | None = None
            if measure in ("patch", "texture_image", "positive"):
                predicted = -1
            if len(positions) > 2:
                found.append(
                    slope("slope over alpha", measure, positions, predicted, margin=COSINE)
                )
            for variant in variants:
                printed = _PRINTED_DIFFERENCES.get((variant.values["alpha"], measure))
                if base is not None and variant.label != base:
                    label = variant.label
                    found.append(
                        difference(measure, label, base, predicted, margin=COSINE, paper=printed)
                    )
        return found
