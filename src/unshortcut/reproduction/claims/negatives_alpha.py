"""A higher alpha moves decisions from texture to shape (NSN, figure 6 a to c)."""

from collections.abc import Mapping, Sequence

from unshortcut.reproduction.claim import Axis, MeasureColumn, Scale, Variant
from unshortcut.reproduction.claims import _negatives as nsn
from unshortcut.reproduction.effects import Effect, Peak, Sign, difference, slope

_TABLE_1 = {
    "0": "moco-v2-imagenet100",
    "2": "moco-v2-patch-a2-imagenet100",
    "3": "moco-v2-patch-a3-imagenet100",
}
"""The recipe of a row by its alpha."""
_MONOTONE: Mapping[str, Sign] = {
    "shape_bias": 1,
    "conflict_shape": 1,
    "conflict_texture": -1,
    "texture": -1,
}
"""Measures that rise or fall as alpha grows, with the sign."""
_PEAKED = ("sketch", "silhouette", "stylized", "cartoon")
"""Measures that are highest at some alpha above 0."""


class NegativesAlpha(nsn.NegativesClaim):
    """Trainings with growing alpha, and the cue that their decisions follow."""

    name = "negatives-alpha"
    summary = "patch negatives move decisions from texture to shape, by alpha"
    where = "non-semantic negatives, figure 6 a to c, table 1"
    x = "alpha"
    columns = (
        nsn.SHAPE_BIAS,
        MeasureColumn("conflict_shape", "conflict, shape"),
        MeasureColumn("conflict_texture", "conflict, texture"),
        nsn.TEXTURE,
        nsn.SKETCH,
        nsn.SILHOUETTE,
        nsn.STYLIZED,
        nsn.TEST,
    )
    notes = (
        "The paper prints no numbers for figure 6; ours stand next to those of table 1. In the "
        "paper, accuracy is highest at alpha 3 on sketches and at alpha 2 on the validation set.",
    )

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        return (nsn.alphas(*nsn.SWEEP),)

    def paper_recipe(self, values: Mapping[str, str]) -> str | None:
        return _TABLE_1.get(values["alpha"])

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        positions = {variant.label: float(variant.values["alpha"]) for variant in variants}
        base = next((label for label, alpha in positions.items() if alpha == 0), None)
        others = [label for label in positions if label != base]
        found: list[Effect] = []
        for measure, predicted in _MONOTONE.items():
            if len(positions) > 2:
                found.append(slope("slope over alpha", measure, positions, predicted))
            if base is not None:
                found += [difference(measure, other, base, predicted) for other in others]
        if base is not None and others:
            for measure in _PEAKED:
                if len(others) > 1:
                    found.append(Peak(measure, base, others))
                found += [difference(measure, other, base, 1) for other in others]
            found += [difference("test", other, base) for other in others]
        return found
