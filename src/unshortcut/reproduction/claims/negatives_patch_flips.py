"""Flipping and turning single patches helps small ones only (NSN, table 6)."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar

from unshortcut.errors import unknown
from unshortcut.reproduction.claim import Axis, Claim, Column, Scale, Variant
from unshortcut.reproduction.claims import _patches
from unshortcut.reproduction.claims._negatives import ACCURACIES, COLUMNS, MOCO
from unshortcut.reproduction.effects import Effect, difference
from unshortcut.reproduction.measure import Measure

_SMALL = "8-28"
_KEYS = {"none": (), "horizontal": ("flip",), "vertical": ("flip", "vertical_flip"),
         "rotation": ("flip", "vertical_flip", "rotate")}  # fmt: skip
"""Cumulative, as in the table: `vertical` flips both ways, `rotation` also turns."""
_TABLE_6 = {
    _SMALL: dict(zip(_KEYS, (78.58, 78.72, 78.66, 78.64), strict=True)),
    _patches.USUAL: dict(zip(_KEYS, (79.35, 79.06, 78.92, 78.40), strict=True)),
}


class NegativesPatchFlips(Claim):
    """Small and usual patches, each flipped and turned more and more."""

    name: ClassVar[str] = "negatives-patch-flips"
    summary: ClassVar[str] = "flipping single patches costs accuracy, unless they are small"
    where: ClassVar[str] = "non-semantic negatives, table 6"
    recipes: ClassVar[Mapping[Scale, str]] = MOCO
    x: ClassVar[str] = "flips"
    columns: ClassVar[tuple[Column, ...]] = COLUMNS
    measures: ClassVar[tuple[Measure, ...]] = ACCURACIES
    notes: ClassVar[tuple[str, ...]] = (_patches.NOTE, "Augmentations add up from left to right.")

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        sizes = Axis("patch", tuple(_TABLE_6), partial(_patches.changes, scale=scale))
        return sizes, Axis("flips", tuple(_KEYS), _flips)

    def paper(self, values: Mapping[str, str]) -> Mapping[str, float]:
        printed = _TABLE_6.get(values["patch"], {}).get(values["flips"])
        return {} if printed is None else {"test": printed}

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        return [
            difference(
                "test",
                variant.label,
                f"patch={variant.values['patch']} flips=none",
                1 if variant.values["patch"] == _SMALL else -1,
            )
            for variant in variants
            if variant.values["flips"] != "none"
        ]


def _flips(value: str) -> tuple[str, ...]:
    if value not in _KEYS:
        raise unknown("value of flips", value, _KEYS)
    return tuple(f"method.negatives.patch.{key}=true" for key in _KEYS[value])
