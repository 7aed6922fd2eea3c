"""Accuracy under the corruptions of ImageNet-C (dissertation, table 2.6)."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from unshortcut.reproduction.measure import Measure
from unshortcut.reproduction.measures.tasks import Task, accuracies

if TYPE_CHECKING:
    from unshortcut.reproduction.evaluation import Evaluation


@dataclass(frozen=True)
class CorruptedMeasure(Measure):
    """A linear probe that was fitted on clean images, on corrupted ones.

    The split `corrupted` of `shapes` has all 15 corruptions at all five severities equally often,
    so that its accuracy is their mean. Other data come as a test set that is called `corrupted`.

    Metric, in percent: `corrupted`.
    """

    name: ClassVar[str] = "corrupted"
    uses: ClassVar[tuple[str, ...]] = ("tests",)

    seeds: int = 3

    def dependencies(self, evaluation: "Evaluation") -> dict[str, Any]:
        tasks = [task.dependencies() for task in corrupted_tasks(evaluation)]
        return {"tasks": tasks, "seeds": self.seeds, **evaluation.probe_settings}

    def compute(self, run: Path, evaluation: "Evaluation") -> dict[str, float]:
        return accuracies(run, corrupted_tasks(evaluation), evaluation, self.seeds)


def corrupted_tasks(evaluation: "Evaluation") -> list[Task]:
    """Predict the class of corrupted images; none if the data have none, or they were given."""
    from unshortcut.data.shapes import Shapes

    train, tests = evaluation.train, evaluation.tests
    if not isinstance(train, Shapes) or "corrupted" in tests:
        return []
    corrupted = Shapes(
        "corrupted",
        size=train.size,
        count=len(tests["test"]),
        seed=train.seed,
        palette=train.palette,
    )
    return [Task("linear", train, {"corrupted": corrupted})]
