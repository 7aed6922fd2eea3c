"""Suppressed texture and patch negatives help fine-tuning elsewhere (dissertation, table 2.2)."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import ClassVar

from unshortcut.reproduction.claim import MeasureColumn, Scale, Variant, paper_metrics
from unshortcut.reproduction.claims import _moco_arms as arms
from unshortcut.reproduction.effects import Effect, difference
from unshortcut.reproduction.measure import Measure
from unshortcut.reproduction.measures.finetuned import (
    FinetunedDrawingsMeasure,
    FinetunedTransfersMeasure,
)
from unshortcut.reproduction.measures.linear_probe import LinearProbeMeasure
from unshortcut.reproduction.registration import Registration

_MOCO, _PATCH, _DIFFUSED = map(arms.label, (arms.MOCO, arms.PATCH, arms.ANISOTROPIC))
_ROWS = {
    arms.MOCO: "moco-v2-imagenet",
    arms.PATCH: "moco-v2-patch-a2-imagenet",
    arms.ANISOTROPIC: "moco-v2-anisotropic-doubled-imagenet",
}
"""The recipe of the papers' row by arm."""
_SETS = {"aircraft": "Aircraft", "birds": "Birds", "dogs": "Dogs", "cars": "Cars", "dtd": "DTD"}
"""The data sets of table 2.2 and their titles."""
_SKETCH, _SCENES, _PROBED = "finetuned_sketch", "finetuned_scenes", "sketch"


class Transfer(arms.MocoArmsClaim):
    """Encoders of MoCo-v2, fine-tuned on other data than those they were trained on."""

    name = "transfer"
    summary = "MoCo-v2 with diffused views or patch negatives is worth more after fine-tuning"
    where = "dissertation, tables 2.1 and 2.2; non-semantic negatives, table 2"
    recipes: ClassVar[Mapping[Scale, str]] = {
        "small": "moco-v2-shapes",
        "paper": "moco-v2-imagenet",
    }
    columns = (
        MeasureColumn(_SKETCH, "fine-tuned on sketches", "table 2.2, mean of five sets"),
        MeasureColumn(_SCENES, "fine-tuned on scenes, mean AP", "VOC, AP50"),
        MeasureColumn(_PROBED, "sketch, linear probe", "ImageNet-Sketch"),
        *(
            MeasureColumn(f"finetuned_{name}", f"fine-tuned on {title}", title)
            for name, title in _SETS.items()
        ),
        MeasureColumn("finetuned_pets", "fine-tuned on pets"),
    )
    measures: ClassVar[tuple[Measure, ...]] = (
        FinetunedDrawingsMeasure(),
        FinetunedTransfersMeasure(),
        LinearProbeMeasure(),
    )
    notes = (
        "All weights are trained, on two labeled sketches of each class or on 400 scenes, five "
        "times with other drawings; the labeled drawings have other seeds than the test set. The "
        "paper fine-tunes on five data sets of photographs (table 2.2), next to whose mean our "
        "sketches stand, and for detection on VOC (table 2.1). Other data come with --transfer, "
        "such as pets=TRAIN:TEST or aircraft=TRAIN:TEST.",
        "The paper on non-semantic negatives fine-tunes nothing: its transfer is a classifier of "
        "the frozen features on sketches, which negatives-alpha decides with more seeds.",
    )
    registration = Registration(
        order=33,
        seeds=3,
        arms=(_MOCO, _PATCH, _DIFFUSED),
        primary=difference(_SKETCH, _DIFFUSED, _MOCO, 1),
    )

    def paper(self, values: Mapping[str, str]) -> Mapping[str, float]:
        row = paper_metrics(_ROWS[values["method"]])
        by_set = {f"finetuned_{name}": row.get(f"{name}_top1") for name in _SETS}
        printed = {name: value for name, value in by_set.items() if value is not None}
        found = {_SKETCH: fmean(printed.values())} | printed if printed else {}
        for measure, key in ((_SCENES, "voc_ap50"), (_PROBED, "imagenet_sketch")):
            if key in row:
                found[measure] = row[key]
        return found

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        measures = [column.measure for column in self.columns if column.measure != _PROBED]
        found = [
            difference(measure, arm, _MOCO, 1)
            for arm in (_DIFFUSED, _PATCH)
            for measure in measures
        ]
        return [*found, difference(_PROBED, _PATCH, _MOCO)]
