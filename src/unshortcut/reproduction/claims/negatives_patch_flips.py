"""Flipping and rotating single patches helps only if they are small (NSN, table 6)."""

from collections.abc import Mapping, Sequence
from functools import partial

from unshortcut.reproduction.claim import Axis, Scale, Variant, choices
from unshortcut.reproduction.claims import _negatives as nsn
from unshortcut.reproduction.effects import Effect, Sign, difference
from unshortcut.reproduction.registration import Registration

_SMALL = "8-28"
_SUFFIXES = ("", "-flip", "-flip-vflip", "-flip-vflip-rotate")
_KEYS = [f"method.negatives.patch.{key}=true" for key in ("flip", "vertical_flip", "rotate")]
_FLIPS = ("none", "horizontal", "vertical", "rotation")
"""Cumulative, as in the table: `vertical` flips both ways, `rotation` also rotates."""
_TABLE_6 = {
    (size, flips): f"moco-v2-patch{name}{suffix}-imagenet100"
    for size, name in ((_SMALL, f"-{_SMALL}"), (nsn.USUAL_PATCH, ""))
    for flips, suffix in zip(_FLIPS, _SUFFIXES, strict=True)
} | {(nsn.USUAL_PATCH, "none"): "moco-v2-patch-a2-imagenet100"}
"""The recipe of a cell by patch size and flips."""


class NegativesPatchFlips(nsn.NegativesClaim):
    """Small and usual patches with more and more flips and rotations."""

    name = "negatives-patch-flips"
    summary = "flipping single patches costs accuracy, unless they are small"
    where = "non-semantic negatives, table 6"
    x = "flips"
    in_paper = ("test",)
    notes = (nsn.PATCH_NOTE, "Each column adds a change to the previous one.")

    registration = Registration(
        order=13,
        seeds=3,
        arms=("patch=16-72 flips=none", "patch=16-72 flips=rotation"),
        primary=difference("test", "patch=16-72 flips=rotation", "patch=16-72 flips=none", -1),
        changes=(nsn.LAPTOP_ALPHA,),
    )

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        sizes = Axis("patch", (_SMALL, nsn.USUAL_PATCH), partial(nsn.patch_changes, scale=scale))
        flips = {name: tuple(_KEYS[:count]) for count, name in enumerate(_FLIPS)}
        return sizes, choices("flips", flips)

    def paper_recipe(self, values: Mapping[str, str]) -> str | None:
        return _TABLE_6.get((values["patch"], values["flips"]))

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        found: list[Effect] = []
        for variant in variants:
            size = variant.values["patch"]
            plain = f"patch={size} flips=none"
            predicted: Sign = 1 if size == _SMALL else -1
            if variant.values["flips"] != "none":
                found.append(difference("test", variant.label, plain, predicted))
        return found
