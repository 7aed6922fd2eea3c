"""Patch negatives and diffusion on photographs: values by seed, without a verdict.

On photographs a training takes an hour, so there are two seeds, which decide nothing.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from unshortcut.reproduction.claim import Axis, Claim, MeasureColumn, Scale, Variant, choices
from unshortcut.reproduction.claims import _negatives as nsn
from unshortcut.reproduction.effects import Effect
from unshortcut.reproduction.measure import Measure
from unshortcut.reproduction.measures.audited import AuditMeasure

if TYPE_CHECKING:
    from unshortcut.recipes.load import AnyRecipe

_RECIPES: Mapping[str, Mapping[str, str]] = {
    "moco-v2-imagenette": {
        "moco": "moco-v2-imagenette",
        "patch": "moco-v2-patch-imagenette",
        "anisotropic": "moco-v2-anisotropic-imagenette",
    },
    "moco-v2-imagenet": {
        "moco": "moco-v2-imagenet",
        "patch": "moco-v2-patch-a2-imagenet",
        "anisotropic": "moco-v2-anisotropic-imagenet",
    },
}
"""By recipe of the plain method: the recipe of each arm."""


class Photographs(Claim):
    """MoCo-v2, with patch negatives and with diffusion."""

    name = "photographs"
    summary = "what patch negatives and diffusion change on photographs; values without a verdict"
    where = "non-semantic negatives, table 1; dissertation, tables 2.1 and 2.6"
    recipes: ClassVar[Mapping[Scale, str]] = {
        "small": "moco-v2-imagenette",
        "paper": "moco-v2-imagenet",
    }
    protocol = "moco"
    x = "method"
    columns = (
        nsn.TEST,
        nsn.TEXTURE,
        MeasureColumn("sketch", "sketches, from photographs"),
        MeasureColumn("cartoon", "cartoons, from photographs"),
        MeasureColumn("corruption_accuracy", "corrupted"),
        MeasureColumn("low_pass_accuracy", "low-pass"),
    )
    measures: ClassVar[tuple[Measure, ...]] = (
        *nsn.ACCURACIES,
        AuditMeasure("corruptions", ("corruption_accuracy",)),
        AuditMeasure("frequency", ("low_pass_accuracy",)),
    )
    notes = (
        "Sketches and cartoons are those of PACS if --transfer names them, classified by a probe "
        "that is fitted on its photographs. Corrupted: mean over 15 corruptions and 5 severities. "
        "Low-pass: the lowest quarter of the frequencies in each direction.",
    )

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        return (choices("method", dict.fromkeys(("moco", "patch", "anisotropic"), ())),)

    def recipe(self, variant: Variant, base: "AnyRecipe") -> "AnyRecipe":
        from unshortcut.errors import unknown

        if not isinstance(base, str) or base not in _RECIPES:
            raise unknown("recipe of the method without changes", str(base), _RECIPES)
        return _RECIPES[base][variant.values["method"]]

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        return []
