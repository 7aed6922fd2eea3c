"""Alpha trades texture for shape (NSN, figure 6 a to c)."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from unshortcut.reproduction.claim import Axis, Claim, Column, Scale, Variant
from unshortcut.reproduction.claims._negatives import (
    ACCURACIES,
    MOCO,
    SHAPE_BIAS,
    SILHOUETTE,
    SKETCH,
    STYLIZED,
    TEST,
    TEXTURE,
    alphas,
)
from unshortcut.reproduction.effects import Effect, Peak, Sign, difference, slope
from unshortcut.reproduction.measure import Measure

_TABLE_1 = {
    "0": {"test": 77.88, "sketch": 28.24, "stylized": 16.20},
    "2": {"test": 79.35, "sketch": 31.76, "stylized": 17.37},
    "3": {"test": 75.58, "sketch": 34.03, "stylized": 18.60},
}
_MONOTONE: Mapping[str, Sign] = {
    "shape_bias": 1,
    "conflict_shape": 1,
    "conflict_texture": -1,
    "texture": -1,
}
"""What moves one way as alpha grows, and which way."""
_PEAKED = ("sketch", "silhouette", "stylized", "cartoon")
"""What is highest at some alpha above 0."""


class NegativesAlpha(Claim):
    """Trains with growing alpha, and asks what decisions follow."""

    name: ClassVar[str] = "negatives-alpha"
    summary: ClassVar[str] = "patch negatives move decisions from texture to shape, by alpha"
    where: ClassVar[str] = "non-semantic negatives, figure 6 a to c, table 1"
    recipes: ClassVar[Mapping[Scale, str]] = MOCO
    x: ClassVar[str] = "alpha"
    columns: ClassVar[tuple[Column, ...]] = (
        SHAPE_BIAS,
        Column("conflict_shape", "conflict, shape"),
        Column("conflict_texture", "conflict, texture"),
        TEXTURE,
        SKETCH,
        SILHOUETTE,
        STYLIZED,
        TEST,
    )
    measures: ClassVar[tuple[Measure, ...]] = ACCURACIES
    notes: ClassVar[tuple[str, ...]] = (
        "The papers print no numbers of figure 6; beside ours stand those of table 1. In the paper "
        "sketch accuracy is highest at alpha 3, accuracy on the validation set at alpha 2.",
    )

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        return (alphas(0, 1, 2, 3, 5),)

    def paper(self, values: Mapping[str, str]) -> Mapping[str, float]:
        return _TABLE_1.get(values["alpha"], {})

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        places = {variant.label: float(variant.values["alpha"]) for variant in variants}
        base = next((label for label, alpha in places.items() if alpha == 0), None)
        others = [label for label in places if label != base]
        found: list[Effect] = []
        for measure, predicted in _MONOTONE.items():
            if len(places) > 2:
                found.append(slope("slope over alpha", measure, places, predicted))
            if base is not None:
                found += [difference(measure, other, base, predicted) for other in others]
        if base is not None and others:
            for measure in _PEAKED:
                if len(others) > 1:
                    found.append(Peak(measure, base, others))
                found += [difference(measure, other, base, 1) for other in others]
            found += [difference("test", other, base) for other in others]
        return found
