"""A registered claim whose trainings and metrics are only pretended."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from tests.reproduction.small import SmallClaim
from unshortcut.files import write_json
from unshortcut.reproduction.claim import Axis, MeasureColumn, Scale, Variant
from unshortcut.reproduction.effects import Effect, difference
from unshortcut.reproduction.evaluation import Evaluation
from unshortcut.reproduction.measure import Measure, load_or_compute
from unshortcut.reproduction.overview import ClaimStatus
from unshortcut.reproduction.registration import Registration

SECONDS = 90.0


@dataclass(frozen=True)
class Pretended(Measure):
    """Reads its value from the run folder."""

    name: ClassVar[str] = "pretended"

    def dependencies(self, evaluation: Evaluation) -> dict[str, Any]:
        return {}

    def compute(self, run: Path, evaluation: Evaluation) -> dict[str, float]:
        return {"test": float((run / "value.txt").read_text())}


class RegisteredClaim(SmallClaim):
    """Predicts that alpha 2 raises the test accuracy."""

    name: ClassVar[str] = "registered"
    columns: ClassVar[tuple[MeasureColumn, ...]] = (MeasureColumn("test", "test", "photographs"),)
    measures: ClassVar[tuple[Measure, ...]] = (Pretended(),)
    recipes: ClassVar[Mapping[Scale, str]] = {"small": "moco-v2-patch-shapes"}
    registration: ClassVar[Registration | None] = Registration(
        7, 3, ("alpha=0", "alpha=2"), difference("test", "alpha=2", "alpha=0", 1)
    )

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        (axis,) = super().axes(scale)
        return (Axis(axis.name, ("0", "1", "2"), axis.changes),)

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        return [difference("test", "alpha=2", "alpha=0", 1)]


class EarlierClaim(RegisteredClaim):
    """The same, before the other, on some of its trainings."""

    name: ClassVar[str] = "earlier"
    registration: ClassVar[Registration | None] = Registration(
        2, 2, ("alpha=0", "alpha=2"), difference("test", "alpha=2", "alpha=0", 1)
    )


def pretend(status: ClaimStatus, values: Mapping[str, Sequence[float]]) -> None:
    """Leave finished trainings behind: by variant, the test accuracy with seed 0, 1, …"""
    for training in status.plan.trainings:
        seed = training.recipe.seed
        if seed < len(values[training.variant]):
            training.run.path.mkdir(parents=True)
            (training.run.path / "value.txt").write_text(str(values[training.variant][seed]))
            write_json(training.run.result, {})
            training.run.weights.touch()
            write_json(training.folder / "seconds.json", {"seconds": SECONDS})
            load_or_compute(training, Pretended(), {}, status.plan.evaluation)
