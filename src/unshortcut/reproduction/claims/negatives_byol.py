"""A random negative ruins BYOL, a patch negative does not (NSN, table 7)."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from unshortcut.reproduction.claim import Axis, Claim, Column, Scale, Variant, setting
from unshortcut.reproduction.claims._negatives import ACCURACIES, ALPHA, COLUMNS
from unshortcut.reproduction.effects import EQUAL, Effect, difference, holds
from unshortcut.reproduction.measure import Measure

_WEIGHT = "0.05"
_TABLE_7 = {
    ("0", "0"): {"test": 78.76, "sketch": 35.84, "stylized": 15.01},
    (_WEIGHT, "0"): {"test": 78.81, "sketch": 36.76, "stylized": 15.52},
    ("0", _WEIGHT): {"test": 57.22, "sketch": 19.11, "stylized": 6.74},
    (_WEIGHT, _WEIGHT): {"test": 57.24, "sketch": 20.11, "stylized": 6.60},
}
"""By the weights of the patch and of the regular negative."""


class NegativesByol(Claim):
    """BYOL with no negative, with one of its own patches, with one of another image, with both."""

    name: ClassVar[str] = "negatives-byol"
    summary: ClassVar[str] = "a regular random negative ruins BYOL; a patch negative does not"
    where: ClassVar[str] = "non-semantic negatives, table 7"
    recipes: ClassVar[Mapping[Scale, str]] = {
        "small": "byol-patch-shapes",
        "paper": "byol-patch-regular-imagenet100",
    }
    x: ClassVar[str] = "patch"
    columns: ClassVar[tuple[Column, ...]] = COLUMNS
    measures: ClassVar[tuple[Measure, ...]] = ACCURACIES
    notes: ClassVar[tuple[str, ...]] = (
        "The paper does not state the weight of the regular negative; here it is that of the patch "
        f"negative. BYOL is not ruined where the interval lies above -{EQUAL:g} points, and "
        "ruined where it lies below. Of the "
        "paper's table three columns stand beside ours; the others are other data sets.",
    )

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        values = ("0", _WEIGHT)
        regular = setting("regular", "method.negatives.regular.alpha", values)
        return regular, setting("patch", ALPHA, values)

    def paper(self, values: Mapping[str, str]) -> Mapping[str, float]:
        return _TABLE_7.get((values["patch"], values["regular"]), {})

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        plain = "regular=0 patch=0"
        found: list[Effect] = []
        for variant in variants:
            if variant.label == plain:
                continue
            ruined = variant.values["regular"] != "0"
            found.append(
                difference("test", variant.label, plain, -1, beyond=EQUAL)
                if ruined
                else holds("test", variant.label, plain)
            )
        return found
