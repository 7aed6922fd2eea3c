"""Probing tasks besides the classes: the rotation, color and position of objects, and transfer.

Augmentations may remove what such a task needs; leave-one-out contrastive learning keeps it. The
rotation of an image can be predicted for any images; `shapes` also has labels for the color and
the position of an object.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from unshortcut.reproduction.measure import Measure

if TYPE_CHECKING:
    from unshortcut.data.shapes import Shapes
    from unshortcut.data.source import ImageSource
    from unshortcut.reproduction.evaluation import Evaluation

FACTORS = ("color", "position")
"""Labels of `shapes` that are independent of the class."""


@dataclass(frozen=True)
class Task:
    """A probe that is fitted on one source and tested on others."""

    kind: str
    """Kind of the probe."""
    train: "ImageSource"
    tests: Mapping[str, "ImageSource"]
    """By name of the metric."""

    def dependencies(self) -> dict[str, Any]:
        """Everything besides the encoder that the metrics depend on, as plain values."""
        tests = {name: source.fingerprint() for name, source in self.tests.items()}
        return {"kind": self.kind, "train": self.train.fingerprint(), "tests": tests}


def class_task(evaluation: "Evaluation") -> Task:
    """Predict the class, on every test set."""
    return Task("linear", evaluation.train, evaluation.tests)


def factor_tasks(evaluation: "Evaluation") -> list[Task]:
    """Predict the `rotation` (LooC, table 1) and, on `shapes`, also `color` and `position`."""
    from unshortcut.data.shapes import Shapes

    train, test = evaluation.train, evaluation.tests["test"]
    rotation = Task("rotation", train, {"rotation": test})
    if not isinstance(train, Shapes) or not isinstance(test, Shapes):
        return [rotation]
    labeled = [
        Task("linear", _labeled(train, factor), {factor: _labeled(test, factor)})
        for factor in FACTORS
    ]
    return [rotation, *labeled]


def transfer_tasks(evaluation: "Evaluation") -> list[Task]:
    """Predict the classes of each pair of data sets that was given."""
    return [
        Task("linear", train, {name: test}) for name, (train, test) in evaluation.transfers.items()
    ]


@dataclass(frozen=True)
class FactorsMeasure(Measure):
    """Accuracy (%) of a linear probe on the representation, for each factor.

    The representation of LooC is the backbone, as in the paper; that of LooC++ all branches
    concatenated.
    """

    name: ClassVar[str] = "factors"
    version: ClassVar[int] = 2
    uses: ClassVar[tuple[str, ...]] = ("tests",)

    seeds: int = 3

    def dependencies(self, evaluation: "Evaluation") -> dict[str, Any]:
        tasks = [task.dependencies() for task in factor_tasks(evaluation)]
        return {"tasks": tasks, "seeds": self.seeds, **evaluation.probe_settings}

    def compute(self, run: Path, evaluation: "Evaluation") -> dict[str, float]:
        return accuracies(run, factor_tasks(evaluation), evaluation, self.seeds)


@dataclass(frozen=True)
class TransferMeasure(Measure):
    """Accuracy (%) of a linear probe for every pair of data sets, e.g. photos and sketches.

    The probe is fitted on the first data set, with settings chosen on a part of it, and tested on
    the second.
    """

    name: ClassVar[str] = "transfer"
    version: ClassVar[int] = 2
    uses: ClassVar[tuple[str, ...]] = ("transfers",)

    seeds: int = 3

    def dependencies(self, evaluation: "Evaluation") -> dict[str, Any]:
        pairs = {
            name: [train.fingerprint(), test.fingerprint()]
            for name, (train, test) in evaluation.transfers.items()
        }
        return {"pairs": pairs, "seeds": self.seeds, **evaluation.probe_settings}

    def compute(self, run: Path, evaluation: "Evaluation") -> dict[str, float]:
        return accuracies(run, transfer_tasks(evaluation), evaluation, self.seeds)


def accuracies(
    run: Path, tasks: list[Task], evaluation: "Evaluation", seeds: int
) -> dict[str, float]:
    """The metrics (%) of a run in all tasks."""
    if not tasks:
        return {}
    from unshortcut.models.load import load_model
    from unshortcut.probes.run import probe

    metrics: dict[str, float] = {}
    model = load_model(run)
    for task in tasks:
        found = probe(
            model,
            task.train,
            task.kind,
            tests=task.tests,
            console=evaluation.console,
            seeds=seeds,
            **evaluation.probe_settings,
        )
        metrics |= found.means()
    return metrics


def _labeled(source: "Shapes", factor: str) -> "Shapes":
    """The same images with another label."""
    return type(source)(
        source.split,
        size=source.size,
        count=source.count,
        seed=source.seed,
        palette=source.palette,
        label=factor,
    )
