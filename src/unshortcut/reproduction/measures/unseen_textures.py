"""Accuracy on objects with textures that were never seen (dissertation, section 2.4.3.1)."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from unshortcut.reproduction.measure import Measure
from unshortcut.reproduction.measures.tasks import Task, accuracies

if TYPE_CHECKING:
    from unshortcut.reproduction.evaluation import Evaluation


@dataclass(frozen=True)
class UnseenTexturesMeasure(Measure):
    """Shapes are classified where texture says nothing of them, and then has never been seen.

    A linear probe on the frozen features is fitted on objects of any shape with any of the known
    textures, as many as there are training images. It is tested on as many as there are test
    images, with the known textures and with others. An encoder of texture alone is at chance.

    Metrics, in percent: `paired` with the known textures, `unseen` with the others. Only for
    `shapes`; other data come as a transfer that is called `unseen`.
    """

    name: ClassVar[str] = "unseen_textures"
    uses: ClassVar[tuple[str, ...]] = ("tests",)

    seeds: int = 3

    def dependencies(self, evaluation: "Evaluation") -> dict[str, Any]:
        tasks = [task.dependencies() for task in unseen_tasks(evaluation)]
        return {"tasks": tasks, "seeds": self.seeds, **evaluation.probe_settings}

    def notes(self, evaluation: "Evaluation") -> tuple[str, ...]:
        if unseen_tasks(evaluation) or "unseen" in evaluation.transfer_data:
            return ()
        return (
            "Textures that were never seen are not measured: name objects with some textures to "
            "fit on, and the same objects with others, with --transfer unseen=TRAIN:TEST.",
        )

    def compute(self, run: Path, evaluation: "Evaluation") -> dict[str, float]:
        return accuracies(run, unseen_tasks(evaluation), evaluation, self.seeds)


def unseen_tasks(evaluation: "Evaluation") -> list[Task]:
    """Predict the shape with known textures and with others; none for data without such splits."""
    from unshortcut.data.shapes import Shapes

    train, test = evaluation.train, evaluation.tests["test"]
    if not isinstance(train, Shapes):
        return []

    def drawn(split: str, count: int) -> Shapes:
        return Shapes(split, size=train.size, count=count, seed=train.seed, palette=train.palette)

    tests = {"paired": drawn("paired-test", len(test)), "unseen": drawn("unseen", len(test))}
    return [Task("linear", drawn("paired", len(train)), tests)]
