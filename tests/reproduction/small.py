"""A claim of seconds: a tiny recipe on few drawn images, with and without patch negatives."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from tests.small import TINY_RECIPE
from unshortcut.data.shapes import Shapes
from unshortcut.data.source import ImageSource
from unshortcut.reproduction import Reproduction, reproduce
from unshortcut.reproduction.claim import Axis, Claim, MeasureColumn, Scale, Variant, setting
from unshortcut.reproduction.effects import Effect, difference
from unshortcut.reproduction.evaluation import SHAPES_SPLITS
from unshortcut.reproduction.measure import Measure
from unshortcut.reproduction.measures.linear_probe import LinearProbeMeasure
from unshortcut.reproduction.measures.tasks import TransferMeasure

RECIPE: dict[str, Any] = {
    **TINY_RECIPE,
    "method": {
        **TINY_RECIPE["method"],
        "negatives": [{"name": "queue", "size": 32}, {"name": "patch", "alpha": 2.0}],
    },
    "schedule": {"epochs": 2, "warmup_epochs": 0},
}
IMAGES = 64  # two steps of 32 an epoch
SETS = (
    "data.batch_size=32",
    "data.workers=0",
    "views.size=24",
    "encoder.options={layers: [1, 1, 1, 1], channels: [8, 8, 16, 16]}",
    "method.hidden=16",
    "method.negatives.queue.size=32",
    "schedule.epochs=1",
    "schedule.warmup_epochs=0",
    "training.knn_epochs=0",
)
"""What makes the recipes of the claims in the package quick."""


class SmallClaim(Claim):
    """As the claims in the package, but quick."""

    name: ClassVar[str] = "small"
    summary: ClassVar[str] = "something small"
    where: ClassVar[str] = "nowhere, table 0"
    recipes: ClassVar[Mapping[Scale, str]] = {"small": "moco-v2-shapes", "paper": "moco-v2-shapes"}
    x: ClassVar[str] = "alpha"
    columns: ClassVar[tuple[MeasureColumn, ...]] = (
        MeasureColumn("test", "test", "photographs"),
        MeasureColumn("shape_bias", "shape bias"),
    )
    measures: ClassVar[tuple[Measure, ...]] = (
        LinearProbeMeasure(seeds=1),
        TransferMeasure(seeds=1),
    )
    notes: ClassVar[tuple[str, ...]] = ("Nothing is claimed.",)

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        return (setting("alpha", "method.negatives.patch.alpha", (0, 2)),)

    def paper(self, values: Mapping[str, str]) -> Mapping[str, float]:
        return {"test": 70.0 + float(values["alpha"])}

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        return [difference(m, "alpha=2", "alpha=0", 1) for m in ("test", "shape_bias")]


def images(split: str = "train") -> Shapes:
    return Shapes(split, size=24, count=IMAGES)


def all_tests() -> dict[str, ImageSource]:
    return {split: images(split) for split in SHAPES_SPLITS}


def run(folder: Path, **changed: Any) -> Reproduction:
    """The small claim with its cache and its results in a folder."""
    settings: dict[str, Any] = {"recipe": RECIPE, "seeds": 1, "tests": all_tests(), **changed}
    return reproduce(
        SmallClaim(), images(), out=folder / "out", cache=folder / "trainings", **settings
    )
