"""What an encoder knows of scenes, and of single objects."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from unshortcut.reproduction.measure import Measure
from unshortcut.reproduction.measures.tasks import Task, accuracies

if TYPE_CHECKING:
    from unshortcut.data.shapes import Shapes
    from unshortcut.data.source import ImageSource
    from unshortcut.reproduction.evaluation import Evaluation

OBJECTS = "objects"
"""Name of the transfer to images of single objects."""


@dataclass(frozen=True)
class SceneMeasure(Measure):
    """Mean average precision of a multi-label probe that is fitted on the training scenes.

    Metric, in percent: `scene_map`, over the whole test set (`scenes_to_test`). Scenes of `shapes`
    are seen at their own size, at which their objects are about as large as in training.
    """

    name: ClassVar[str] = "scenes"
    uses: ClassVar[tuple[str, ...]] = ("tests",)

    def dependencies(self, evaluation: "Evaluation") -> dict[str, Any]:
        from unshortcut.probes.multilabels import check_multilabels

        train, test = evaluation.train, scenes_to_test(evaluation)
        check_multilabels(train, {"test": test}, "multilabel")
        return {"train": train.fingerprint(), "test": test.fingerprint()}

    def compute(self, run: Path, evaluation: "Evaluation") -> dict[str, float]:
        from unshortcut.data.shapes import Shapes
        from unshortcut.models.load import load_model
        from unshortcut.probes.run import probe

        model, train = load_model(run), evaluation.train
        if isinstance(train, Shapes):
            sized = model.preprocessing.model_copy(update={"size": train.size})
            model = replace(model, preprocessing=sized)
        tests = {"scene_map": scenes_to_test(evaluation)}
        return probe(model, train, "multilabel", tests=tests, console=evaluation.console).means()


@dataclass(frozen=True)
class SingleObjectMeasure(Measure):
    """Accuracy of a linear probe on images of single objects.

    Metric, in percent: `object_accuracy`. For `shapes`, the probe is fitted on its split `train`
    and tested on `test`; for other data, on those of the transfer `objects`, if it was given.
    """

    name: ClassVar[str] = "single_objects"
    uses: ClassVar[tuple[str, ...]] = ("transfers",)

    seeds: int = 3

    def dependencies(self, evaluation: "Evaluation") -> dict[str, Any]:
        tasks = [task.dependencies() for task in object_tasks(evaluation)]
        return {"tasks": tasks, "seeds": self.seeds, **evaluation.probe_settings}

    def notes(self, evaluation: "Evaluation") -> tuple[str, ...]:
        if object_tasks(evaluation):
            return ()
        return (
            "The accuracy on single objects is not measured: name labeled images of them with "
            f"--transfer {OBJECTS}=TRAIN:TEST.",
        )

    def compute(self, run: Path, evaluation: "Evaluation") -> dict[str, float]:
        return accuracies(run, object_tasks(evaluation), evaluation, self.seeds)


def scenes_to_test(evaluation: "Evaluation") -> "ImageSource":
    """Scenes like those that were trained on.

    For `shapes`, they are `context-test` or `scene-test`; for other data, their split `test` or
    `val`.
    """
    from unshortcut.data.shapes import Shapes

    train = evaluation.train
    if not isinstance(train, Shapes) or "test" in evaluation.more_tests:
        return evaluation.test
    return drawn_like(train, "context-test" if train.split == "context-train" else "scene-test")


def drawn_like(source: "Shapes", split: str) -> "Shapes":
    """Another split of `shapes`, drawn in the same way."""
    from unshortcut.data.shapes import Shapes

    return Shapes(split, size=source.size, seed=source.seed, palette=source.palette)


def object_tasks(evaluation: "Evaluation") -> list[Task]:
    """Predict the class of a single object; empty if there are no such images."""
    from unshortcut.data.open import open_data
    from unshortcut.data.shapes import Shapes

    train = evaluation.train
    if OBJECTS in evaluation.transfer_data:
        fitted, tested = map(open_data, evaluation.transfer_data[OBJECTS])
    elif isinstance(train, Shapes):
        fitted, tested = (
            Shapes(split, seed=train.seed, palette=train.palette) for split in ("train", "test")
        )
    else:
        return []
    return [Task("linear", fitted, {"object_accuracy": tested})]
