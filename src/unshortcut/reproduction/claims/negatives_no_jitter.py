"""Patch negatives close the color shortcut that missing jitter opens (NSN, table 3)."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from unshortcut.errors import unknown
from unshortcut.reproduction.claim import Axis, Claim, Column, Scale, Variant
from unshortcut.reproduction.claims._negatives import (
    ACCURACIES,
    ALPHA_NOTE,
    COLUMNS,
    MOCO,
    PATCH_ALPHA,
    alphas,
    patch_alpha,
)
from unshortcut.reproduction.effects import Effect, WonBack, difference
from unshortcut.reproduction.measure import Measure

_TABLES_1_AND_3 = {
    ("yes", "0"): 77.88,
    ("yes", "2"): 79.35,
    ("no", "0"): 70.44,
    ("no", "2"): 76.42,
}
_SHAPE = ("shape_bias", "sketch", "silhouette")
"""Table 3 has none of these: where color is the shortcut, patches should bring shape back."""
_CHANGES = {"yes": (), "no": ("views.augmentations.color_jitter.p=0",)}


class NegativesNoJitter(Claim):
    """With and without color jitter, with and without patch negatives."""

    name: ClassVar[str] = "negatives-no-jitter"
    summary: ClassVar[str] = "patch negatives win back most of what is lost without color jitter"
    where: ClassVar[str] = "non-semantic negatives, table 3"
    recipes: ClassVar[Mapping[Scale, str]] = MOCO
    x: ClassVar[str] = "jitter"
    columns: ClassVar[tuple[Column, ...]] = COLUMNS
    measures: ClassVar[tuple[Measure, ...]] = ACCURACIES
    notes: ClassVar[tuple[str, ...]] = (
        ALPHA_NOTE,
        "Won back: more than half of what alpha 0 loses without jitter; in the paper 80 %.",
    )

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        return Axis("jitter", tuple(_CHANGES), _jitter), alphas(0, PATCH_ALPHA[scale])

    def paper(self, values: Mapping[str, str]) -> Mapping[str, float]:
        printed = _TABLES_1_AND_3.get((values["jitter"], patch_alpha(values)))
        return {} if printed is None else {"test": printed}

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        full, lost = "jitter=yes alpha=0", "jitter=no alpha=0"
        found: list[Effect] = [difference("test", full, lost, 1)]
        for variant in variants:
            if variant.values["jitter"] == "no" and variant.label != lost:
                found.append(difference("test", variant.label, lost, 1))
                found.append(WonBack("test", full, lost, variant.label))
                found += [difference(cue, variant.label, lost, 1) for cue in _SHAPE]
        return found


def _jitter(value: str) -> tuple[str, ...]:
    if value not in _CHANGES:
        raise unknown("value of jitter", value, _CHANGES)
    return _CHANGES[value]
