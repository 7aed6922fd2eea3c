"""A random negative ruins BYOL, and a patch negative does not (NSN, table 7)."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from unshortcut.reproduction.claim import Axis, Claim, MeasureColumn, Scale, Variant, setting
from unshortcut.reproduction.claims._negatives import ACCURACIES, ALPHA, COLUMNS, printed
from unshortcut.reproduction.effects import EQUAL, Effect, difference, not_worse
from unshortcut.reproduction.measure import Measure

_WEIGHT = "0.05"
_TABLE_7 = {
    ("0", "0"): "byol-imagenet100",
    (_WEIGHT, "0"): "byol-patch-imagenet100",
    ("0", _WEIGHT): "byol-regular-imagenet100",
    (_WEIGHT, _WEIGHT): "byol-patch-regular-imagenet100",
}
"""The recipe of a row by the weights of the patch negative and of the regular negative."""


class NegativesByol(Claim):
    """BYOL without negatives, with a patch negative, with a random other image, and with both."""

    name: ClassVar[str] = "negatives-byol"
    summary: ClassVar[str] = "a regular random negative ruins BYOL; a patch negative does not"
    where: ClassVar[str] = "non-semantic negatives, table 7"
    recipes: ClassVar[Mapping[Scale, str]] = {
        "small": "byol-patch-shapes",
        "paper": "byol-patch-regular-imagenet100",
    }
    x: ClassVar[str] = "patch"
    columns: ClassVar[tuple[MeasureColumn, ...]] = COLUMNS
    measures: ClassVar[tuple[Measure, ...]] = ACCURACIES
    notes: ClassVar[tuple[str, ...]] = (
        "The paper does not state the weight of the regular negative; here it is that of the patch "
        f"negative. BYOL counts as ruined if the interval lies below -{EQUAL:g} points, and as not "
        "ruined if it lies above. Three columns of the paper's table stand next to ours; the "
        "others are other data sets.",
    )

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        values = ("0", _WEIGHT)
        regular = setting("regular", "method.negatives.regular.alpha", values)
        return regular, setting("patch", ALPHA, values)

    def paper(self, values: Mapping[str, str]) -> Mapping[str, float]:
        return printed(_TABLE_7.get((values["patch"], values["regular"])))

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
                else not_worse("test", variant.label, plain)
            )
        return found
