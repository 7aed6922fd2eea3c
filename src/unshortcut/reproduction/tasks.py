"""Tasks that an encoder may serve besides its classes: those that some augmentation destroys.

Leave-one-out contrastive learning keeps what such a task needs. How an image was turned can be
asked of any images; `shapes` also knows the color of its objects, and where they stand.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from unshortcut.data.shapes import Shapes
from unshortcut.data.source import ImageSource
from unshortcut.reproduction.evaluation import Evaluation

FACTORS = ("color", "position")
"""Labels of `shapes` that say nothing of the class."""


@dataclass(frozen=True)
class Task:
    """A readout that is fitted on one source and tested on others."""

    kind: str
    """Of the probe."""
    train: ImageSource
    tests: Mapping[str, ImageSource]
    """By the name of the figure."""

    def depends(self) -> dict[str, Any]:
        """What the metrics depend on besides the encoder, as plain values."""
        tests = {name: source.fingerprint() for name, source in self.tests.items()}
        return {"kind": self.kind, "train": self.train.fingerprint(), "tests": tests}


def objects(evaluation: Evaluation) -> Task:
    """The classes, on every test set."""
    return Task("linear", evaluation.train, evaluation.tests)


def factors(evaluation: Evaluation) -> list[Task]:
    """`rotation` (LooC, table 1), and of `shapes` also `color` and `position`."""
    train, test = evaluation.train, evaluation.tests["test"]
    turns = Task("rotation", train, {"rotation": test})
    if not isinstance(train, Shapes) or not isinstance(test, Shapes):
        return [turns]
    labeled = [
        Task("linear", _labeled(train, factor), {factor: _labeled(test, factor)})
        for factor in FACTORS
    ]
    return [turns, *labeled]


def transfers(evaluation: Evaluation) -> list[Task]:
    """Each pair of data sets that was given."""
    return [
        Task("linear", fitted, {name: tested})
        for name, (fitted, tested) in evaluation.transfers.items()
    ]


def _labeled(source: Shapes, factor: str) -> Shapes:
    """The same images with another label."""
    return Shapes(
        source.split,
        size=source.size,
        count=source.count,
        seed=source.seed,
        palette=source.palette,
        label=factor,
    )
