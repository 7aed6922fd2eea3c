"""Patch negatives close the color shortcut that is open without color jitter (NSN, table 3)."""

from collections.abc import Mapping, Sequence

from unshortcut.reproduction.claim import Axis, Scale, Variant, choices
from unshortcut.reproduction.claims import _negatives as nsn
from unshortcut.reproduction.effects import Effect, difference, won_back
from unshortcut.reproduction.registration import Registration

_TABLES_1_AND_3 = {
    ("yes", "0"): "moco-v2-imagenet100",
    ("yes", "2"): "moco-v2-patch-a2-imagenet100",
    ("no", "0"): "moco-v2-no-jitter-imagenet100",
    ("no", "2"): "moco-v2-patch-no-jitter-imagenet100",
}
"""The recipe of a row by jitter and alpha."""
_FULL, _LOST = "jitter=yes alpha=0", "jitter=no alpha=0"
_SHAPE = ("shape_bias", "sketch", "silhouette")
"""Not in table 3; if color is the shortcut, patch negatives should bring shape back."""
_CHANGES: Mapping[str, tuple[str, ...]] = {
    "yes": (),
    "no": ("views.augmentations.color_jitter.p=0",),
}


class NegativesNoJitter(nsn.NegativesClaim):
    """With and without color jitter, with and without patch negatives."""

    name = "negatives-no-jitter"
    summary = "patch negatives win back most of what is lost without color jitter"
    where = "non-semantic negatives, table 3"
    x = "jitter"
    in_paper = ("test",)
    notes = (
        nsn.ALPHA_NOTE,
        "Won back: more than half of what alpha 0 loses without jitter, where it does lose; 80 % "
        "in the paper.",
    )
    registration = Registration(
        order=6,
        seeds=3,
        arms=(_FULL, _LOST, "jitter=no alpha=2"),
        primary=difference("test", "jitter=no alpha=2", _LOST, 1),
    )

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        return choices("jitter", _CHANGES), nsn.alphas(0, nsn.PATCH_ALPHA[scale])

    def paper_recipe(self, values: Mapping[str, str]) -> str | None:
        return _TABLES_1_AND_3.get((values["jitter"], nsn.patch_alpha(values)))

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        found: list[Effect] = [difference("test", _FULL, _LOST, 1)]
        for variant in variants:
            if variant.values["jitter"] == "no" and variant.label != _LOST:
                found.append(difference("test", variant.label, _LOST, 1))
                found.append(won_back("test", _FULL, _LOST, variant.label))
                found += [difference(cue, variant.label, _LOST, 1) for cue in _SHAPE]
        return found
