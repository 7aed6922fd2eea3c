"""Medium patches suit photographs, and large ones sketches (NSN, figure 11)."""

import statistics
from collections.abc import Mapping, Sequence
from functools import partial

from unshortcut.reproduction.claim import Axis, Scale, Variant
from unshortcut.reproduction.claims import _negatives as nsn
from unshortcut.reproduction.effects import Effect, difference, slope
from unshortcut.reproduction.registration import Registration

_NONE = "none"
_ROWS = {
    _NONE: "moco-v2-imagenet100",
    "8-28": "moco-v2-patch-8-28-imagenet100",
    nsn.USUAL_PATCH: "moco-v2-patch-a2-imagenet100",
}
"""The recipe of a row of tables 1 and 6 by patch size."""
_RANGES = ("8-28", "16-28", nsn.USUAL_PATCH, "28-72", "28-112", "72-112")


class NegativesPatchSize(nsn.NegativesClaim):
    """Several ranges of the patch size, and no patch negatives for comparison."""

    name = "negatives-patch-size"
    summary = "very small and very large patches cost accuracy; large ones suit sketches"
    where = "non-semantic negatives, figure 11"
    x = "patch"
    in_paper = ("test", "sketch")
    notes = (
        nsn.PATCH_NOTE,
        "The paper prints neither the ranges nor the numbers of figure 11, only two in table 6; "
        "the other ranges are our choice. It finds that both large and small patches cost accuracy "
        "on the validation set, and that larger ones gain more on sketches.",
    )
    registration = Registration(
        order=12,
        seeds=3,
        arms=(f"patch={_NONE}", "patch=8-28", f"patch={nsn.USUAL_PATCH}", "patch=72-112"),
        primary=difference("test", f"patch={nsn.USUAL_PATCH}", "patch=8-28", 1),
        changes=(nsn.LAPTOP_ALPHA,),
    )

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        return (Axis("patch", (_NONE, *_RANGES), partial(_changes, scale=scale)),)

    def paper_recipe(self, values: Mapping[str, str]) -> str | None:
        return _ROWS.get(values["patch"])

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        ranges = {v.label: v.values["patch"] for v in variants if v.values["patch"] != _NONE}
        centers = {
            label: statistics.fmean(nsn.patch_bounds(given)) for label, given in ranges.items()
        }
        usual = f"patch={nsn.USUAL_PATCH}"
        found: list[Effect] = [
            difference("test", usual, label, 1) for label in ranges if label != usual
        ]
        found += [difference("sketch", label, f"patch={_NONE}") for label in ranges]
        if len(centers) > 1:
            found.append(slope("slope over the center of d", "sketch", centers, 1))
        return found


def _changes(value: str, scale: Scale) -> tuple[str, ...]:
    return (f"{nsn.ALPHA}=0",) if value == _NONE else nsn.patch_changes(value, scale)
