"""Hyperbolic learning: scenes lie outside of their objects, and know what belongs to them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from unshortcut.errors import unknown
from unshortcut.reproduction.claim import Axis, Claim, MeasureColumn, Scale, Variant, choices
from unshortcut.reproduction.effects import Effect, difference
from unshortcut.reproduction.measure import Measure
from unshortcut.reproduction.measures.context import OutOfContextMeasure, SceneNormMeasure
from unshortcut.reproduction.measures.scenes import SceneMeasure
from unshortcut.reproduction.registration import Registration

if TYPE_CHECKING:
    from unshortcut.recipes.load import AnyRecipe

_RANDOM, _OBJECTS, _HCL = "moco", "objects", "hcl"
_RECIPES: Mapping[str, Mapping[str, str]] = {
    "moco-v2-context-shapes": {
        _OBJECTS: "moco-v2-objects-context-shapes",
        _HCL: "hcl-context-shapes",
    },
    "moco-v2-openimages": {_OBJECTS: "moco-v2-objects-openimages", _HCL: "hcl-openimages"},
}
"""By recipe of MoCo-v2 with random crops: the other arms on the same data."""
_NORM, _SEVERAL, _MAP = "norm_correlation", "several_labels", "scene_map"
_ODD, _COSINE, _GAIN = "odd_objects", "odd_by_cosine", "odd_gain"


def _label(method: str) -> str:
    return f"method={method}"


def _above_zero(measure: str) -> Effect:
    """A metric of hyperbolic learning alone, predicted to be above 0."""
    return Effect(_label(_HCL), measure, {_label(_HCL): 1.0}, 1)


class Hyperbolic(Claim):
    """MoCo-v2 with random crops and with crops of objects, and hyperbolic learning."""

    name = "hyperbolic"
    summary = "hyperbolic learning puts scenes outside of their objects, and finds odd objects"
    where = "dissertation, section 1.3"
    recipes: ClassVar[Mapping[Scale, str]] = {
        "small": "moco-v2-context-shapes",
        "paper": "moco-v2-openimages",
    }
    x = "method"
    protocol = "moco"
    columns = (
        MeasureColumn(_NORM, "norm and number of objects, correlation × 100"),
        MeasureColumn(_MAP, "scenes, mean AP"),
        MeasureColumn(_SEVERAL, "several labels, AUROC − 50"),
        MeasureColumn(_ODD, "odd objects, AUROC − 50"),
        MeasureColumn(_COSINE, "by cosine, AUROC − 50"),
        MeasureColumn(_GAIN, "distance − cosine"),
    )
    measures: ClassVar[tuple[Measure, ...]] = (
        SceneNormMeasure(),
        SceneMeasure(),
        OutOfContextMeasure(),
    )
    notes = (
        "Trained on scenes in which shapes of one of two groups occur together; boxes are those of "
        "the data. Norms are those of vectors in the Poincaré ball for hyperbolic learning, and of "
        "features for the others; distances of objects to their scenes are hyperbolic for the "
        "first and 1 − cosine of features for the others. Both need no training. Scenes, mean AP: "
        "a multi-label probe on frozen features, fitted on the training scenes. Values of AUROC "
        "have chance subtracted, so that above 0 is above chance.",
        "The primary effect is what the dissertation says of the space itself: norms grow from "
        "objects to scenes. It prints no number for it, and none for the other effects.",
    )
    registration = Registration(
        order=42,
        seeds=3,
        arms=tuple(map(_label, (_RANDOM, _OBJECTS, _HCL))),
        primary=_above_zero(_NORM),
        # The label of a scene is that of one of its objects.
        changes=("training.knn_epochs=0",),
    )

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        return (choices("method", dict.fromkeys((_RANDOM, _OBJECTS, _HCL), ())),)

    def recipe(self, variant: Variant, base: "AnyRecipe") -> "AnyRecipe":
        if not isinstance(base, str) or base not in _RECIPES:
            raise unknown("recipe with random crops", str(base), _RECIPES)
        return _RECIPES[base].get(variant.values["method"], base)

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        hcl, others = _label(_HCL), (_label(_RANDOM), _label(_OBJECTS))
        return [
            self.registration.primary,
            *(difference(_MAP, hcl, other, 1) for other in others),
            *map(_above_zero, (_SEVERAL, _ODD, _GAIN)),
            *(difference(_ODD, hcl, other, 1) for other in others),
        ]
