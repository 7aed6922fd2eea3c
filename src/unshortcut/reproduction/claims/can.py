"""What contrast, masks and noise each add to CAN: values by seed, without a verdict.

A small ViT needs many epochs, so there are two seeds, which decide nothing.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from unshortcut.errors import unknown
from unshortcut.reproduction.claim import (
    Axis,
    Claim,
    MeasureColumn,
    Scale,
    Variant,
    choices,
    paper_metrics,
)
from unshortcut.reproduction.effects import Effect
from unshortcut.reproduction.measure import Measure
from unshortcut.reproduction.measures.audited import AuditMeasure
from unshortcut.reproduction.measures.finetuned import FinetunedLabelsMeasure
from unshortcut.reproduction.measures.linear_probe import LinearProbeMeasure

if TYPE_CHECKING:
    from unshortcut.recipes.load import AnyRecipe

_SIMCLR, _MAE, _CAN = "simclr", "mae", "can"
_OTHERS: Mapping[str, Mapping[str, str]] = {
    "can-shapes": {_SIMCLR: "simclr-vit-shapes", _MAE: "mae-shapes"},
    "can-imagenette": {_SIMCLR: "simclr-vit-imagenette", _MAE: "mae-imagenette"},
    "can-vit-b-imagenet": {_SIMCLR: "simclr-vit-b-imagenet", _MAE: "mae-vit-b-imagenet"},
    "can-vit-l-imagenet": {_SIMCLR: "simclr-vit-l-imagenet", _MAE: "mae-vit-l-imagenet"},
    "can-vit-h-imagenet": {_SIMCLR: "simclr-vit-h-imagenet", _MAE: "mae-vit-h-imagenet"},
}
"""By recipe of CAN: those of its parents on the same data, with the same ViT."""
_ARMS: Mapping[str, tuple[str, ...]] = {
    _SIMCLR: (),
    _MAE: (),
    "contrast+masks": ("method.denoise=0",),
    _CAN: (),
}
_FURTHER_ARMS: Mapping[str, tuple[str, ...]] = {
    "contrast+noise": ("method.reconstruct=0",),
    "masks+noise": ("method.contrast=0",),
    "contrast": ("method.reconstruct=0", "method.denoise=0"),
    "masks": ("method.contrast=0", "method.denoise=0"),
    "noise": ("method.contrast=0", "method.reconstruct=0"),
}
"""Arms that are trained only if `--values` names them, e.g. `--values method=contrast+noise`."""


class Can(Claim):
    """SimCLR, MAE, CAN, and CAN with some of its three terms, with the same ViT."""

    name = "can"
    summary = "what contrast, masks and noise each add to CAN; values without a verdict"
    where = "dissertation, section 1.4"
    recipes: ClassVar[Mapping[Scale, str]] = {
        "small": "can-shapes",
        "paper": "can-vit-b-imagenet",
    }
    x = "method"
    protocol = "mae"
    columns = (
        MeasureColumn("test", "linear", "ImageNet linear"),
        MeasureColumn("finetuned", "fine-tuned"),
        MeasureColumn("low_pass_accuracy", "low-pass"),
        MeasureColumn("high_pass_accuracy", "high-pass"),
        MeasureColumn("corruption_accuracy", "corrupted"),
    )
    measures: ClassVar[tuple[Measure, ...]] = (
        LinearProbeMeasure(),
        FinetunedLabelsMeasure(),
        AuditMeasure("frequency", ("low_pass_accuracy", "high_pass_accuracy")),
        AuditMeasure("corruptions", ("corruption_accuracy",)),
    )
    notes = (
        "All arms have the same ViT, optimizer and epochs; at the scale of the paper MAE has "
        "optimizer settings and epochs of its own. SimCLR sees whole views, MAE one view with "
        "three quarters hidden, the others two views with half hidden. Linear: a linear probe on "
        "frozen features. Fine-tuned: all weights, on ten new drawings of each class, or on a "
        "tenth of the labels of other data, the mean of two fine-tunings. Low-pass: the lowest "
        "quarter of the frequencies in each direction; high-pass: all but those. Corrupted: mean "
        "over 15 corruptions and 5 severities. Minutes are those of a training on one core, next "
        "to other work, and trainings began at different commits: they say how long to wait, not "
        "which method is faster.",
    )

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        known = choices("method", {**_ARMS, **_FURTHER_ARMS})
        return (Axis("method", tuple(_ARMS), known.changes),)

    def recipe(self, variant: Variant, base: "AnyRecipe") -> "AnyRecipe":
        if not isinstance(base, str) or base not in _OTHERS:
            raise unknown("recipe of CAN", str(base), _OTHERS)
        return _OTHERS[base].get(variant.values["method"], base)

    def paper(self, values: Mapping[str, str]) -> Mapping[str, float]:
        base = self.recipes["paper"]
        recipe = {**_OTHERS[base], _CAN: base}.get(values["method"])
        printed = {} if recipe is None else paper_metrics(recipe)
        return {"test": printed["imagenet_linear"]} if printed else {}

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        return []
