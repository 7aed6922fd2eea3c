"""Crops of objects teach more about scenes than random crops (object-aware cropping)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from unshortcut.errors import unknown
from unshortcut.reproduction.claim import (
    Axis,
    Claim,
    MeasureColumn,
    Proposing,
    Scale,
    Variant,
    choices,
    paper_metrics,
)
from unshortcut.reproduction.effects import Effect, difference
from unshortcut.reproduction.measure import Measure
from unshortcut.reproduction.measures.scenes import SceneMeasure, SingleObjectMeasure
from unshortcut.reproduction.registration import Registration

if TYPE_CHECKING:
    from unshortcut.recipes.load import AnyRecipe

_RECIPES: Mapping[str, str] = {
    "moco-v2-scenes-shapes": "moco-v2-objects-shapes",
    "moco-v2-coco": "moco-v2-objects-coco",
    "moco-v2-openimages": "moco-v2-objects-openimages",
}
"""By recipe with random crops: that with object crops on the same data."""
_RANDOM, _ANNOTATED, _SEARCHED, _OWN = "random", "annotation", "proposals", "features"
_SCENES, _OBJECTS = "scene_map", "object_accuracy"
_PRINTED = {_SCENES: "openimages_map", _OBJECTS: "imagenet_top1"}


def _label(crops: str) -> str:
    return f"crops={crops}"


_PROPOSING = {
    _SEARCHED: Proposing("selective_search"),
    _OWN: Proposing("features", model_of=_label(_RANDOM)),
}


class ObjectCrops(Claim):
    """MoCo-v2 on scenes: random crops, and crops of objects from three sources of boxes."""

    name = "object-crops"
    summary = "crops of objects in place of random crops make better features of scenes"
    where = "dissertation, section 1.3; object-aware cropping, table of its public code"
    recipes: ClassVar[Mapping[Scale, str]] = {
        "small": "moco-v2-scenes-shapes",
        "paper": "moco-v2-openimages",
    }
    x = "crops"
    protocol = "moco"
    columns = (
        MeasureColumn(_SCENES, "scenes, mean AP", "OpenImages mAP"),
        MeasureColumn(_OBJECTS, "single objects", "ImageNet"),
    )
    measures: ClassVar[tuple[Measure, ...]] = (SceneMeasure(), SingleObjectMeasure())
    notes = (
        "Boxes are those of the data (annotation), of selective search (proposals), or of the "
        "features of the encoder that random crops of the same seed have trained (features); the "
        "time to propose boxes is not part of the time of a training. Scenes: a multi-label probe "
        "on frozen features, fitted on the training scenes. Single objects: a linear probe, fitted "
        "and tested on images of one object.",
        "The paper's row stands next to annotation, because its public code for OpenImages reads "
        "annotated boxes; its text speaks of unsupervised proposals.",
    )
    registration = Registration(
        order=41,
        seeds=3,
        arms=tuple(map(_label, (_RANDOM, _ANNOTATED, _SEARCHED, _OWN))),
        primary=difference(_SCENES, _label(_ANNOTATED), _label(_RANDOM), 1),
        # The label of a scene is that of one of its objects.
        changes=("training.knn_epochs=0",),
    )

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        return (choices("crops", dict.fromkeys((_RANDOM, _ANNOTATED, _SEARCHED, _OWN), ())),)

    def recipe(self, variant: Variant, base: "AnyRecipe") -> "AnyRecipe":
        if not isinstance(base, str) or base not in _RECIPES:
            raise unknown("recipe with random crops", str(base), _RECIPES)
        return base if variant.values["crops"] == _RANDOM else _RECIPES[base]

    def proposing(self, variant: Variant) -> Proposing | None:
        return _PROPOSING.get(variant.values["crops"])

    def paper(self, values: Mapping[str, str]) -> Mapping[str, float]:
        base = self.recipes["paper"]
        row = {_RANDOM: base, _ANNOTATED: _RECIPES[base]}.get(values["crops"])
        if row is None:
            return {}
        printed = paper_metrics(row)
        return {measure: printed[key] for measure, key in _PRINTED.items()}

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        found = [
            difference(measure, _label(crops), _label(_RANDOM), 1)
            for measure in (_SCENES, _OBJECTS)
            for crops in (_ANNOTATED, _SEARCHED, _OWN)
        ]
        apart = [
            difference(_SCENES, _label(crops), _label(_ANNOTATED)) for crops in (_SEARCHED, _OWN)
        ]
        return [*found, *apart]
