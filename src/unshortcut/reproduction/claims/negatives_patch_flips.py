"""Flipping and rotating single patches helps only if they are small (NSN, table 6)."""

from collections.abc import Mapping, Sequence
from functools import partial

from unshortcut.errors import unknown
from unshortcut.reproduction.claim import Axis, Scale, Variant
from unshortcut.reproduction.claims._negatives import (
    PATCH_NOTE,
    USUAL_PATCH,
    NegativesClaim,
    patch_changes,
)
from unshortcut.reproduction.effects import Effect, difference

_SMALL = "8-28"
_KEYS = {"none": (), "horizontal": ("flip",), "vertical": ("flip", "vertical_flip"),
         "rotation": ("flip", "vertical_flip", "rotate")}  # fmt: skip
"""Cumulative, as in the table: `vertical` flips both ways, `rotation` also rotates."""
_SUFFIXES = dict(zip(_KEYS, ("", "-flip", "-flip-vflip", "-flip-vflip-rotate"), strict=True))
_TABLE_6 = {
    **{(_SMALL, flips): f"moco-v2-patch-8-28{end}-imagenet100" for flips, end in _SUFFIXES.items()},
    **{(USUAL_PATCH, flips): f"moco-v2-patch{end}-imagenet100" for flips, end in _SUFFIXES.items()},
    (USUAL_PATCH, "none"): "moco-v2-patch-a2-imagenet100",
}
"""The recipe of a cell by patch size and flips."""


class NegativesPatchFlips(NegativesClaim):
    """Small and usual patches with more and more flips and rotations."""

    name = "negatives-patch-flips"
    summary = "flipping single patches costs accuracy, unless they are small"
    where = "non-semantic negatives, table 6"
    x = "flips"
    in_paper = ("test",)
    notes = (PATCH_NOTE, "Each column adds a change to the previous one.")

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        sizes = Axis("patch", (_SMALL, USUAL_PATCH), partial(patch_changes, scale=scale))
        return sizes, Axis("flips", tuple(_KEYS), _flips)

    def paper_recipe(self, values: Mapping[str, str]) -> str | None:
        return _TABLE_6.get((values["patch"], values["flips"]))

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
