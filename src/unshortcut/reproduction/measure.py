"""A measure turns a trained run into metrics, which are stored next to the run."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from unshortcut.files import write_json

if TYPE_CHECKING:
    from unshortcut.reproduction.evaluation import Evaluation
    from unshortcut.reproduction.training_job import TrainingJob


class Measure(ABC):
    """Base class of measures: frozen dataclasses whose fields are their settings."""

    name: ClassVar[str]
    version: ClassVar[int] = 1
    """Raised when the same run and settings would give other metrics."""
    uses: ClassVar[tuple[str, ...]] = ()
    """Which data given by the user it uses: `tests`, `transfers`, `conflict`, `hierarchy`."""

    @abstractmethod
    def dependencies(self, evaluation: "Evaluation") -> dict[str, Any]:
        """Everything besides the run that the metrics depend on, as plain values.

        Raises `UsageError` if the data do not allow the measure, before anything is trained.
        """

    def notes(self, evaluation: "Evaluation") -> tuple[str, ...]:
        """Sentences for the user before anything is trained: what is left out of the data, and why.

        They are printed again with the result.
        """
        return ()

    @abstractmethod
    def compute(self, run: Path, evaluation: "Evaluation") -> dict[str, float]:
        """The metrics of a run."""


def load_or_compute(
    training: "TrainingJob", measure: Measure, depends: Mapping[str, Any], evaluation: "Evaluation"
) -> dict[str, float]:
    """The metrics of a finished training, from an earlier command or computed now.

    `depends` is the result of `measure.dependencies(evaluation)`, which is slow on large data.
    A training of which only the metrics were kept is run again for a measure that is not there.
    """
    known = load_metrics(training, measure, depends)
    if known is not None:
        return known
    if not training.run.weights.is_file():
        training.train(evaluation.console)
    metrics = measure.compute(training.run.path, evaluation)
    path, key = _stored(training, measure, depends)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, {"depends": key, "metrics": metrics})
    return metrics


def load_metrics(
    training: "TrainingJob", measure: Measure, depends: Mapping[str, Any]
) -> dict[str, float] | None:
    """The metrics that an earlier command stored; None if there are none."""
    path, _ = _stored(training, measure, depends)
    try:
        known: dict[str, float] = json.loads(path.read_text(encoding="utf-8"))["metrics"]
    except (OSError, ValueError, KeyError):
        return None
    return known


def digest(depends: Mapping[str, Any]) -> str:
    """16 hex digits that identify what metrics depend on."""
    return hashlib.sha256(json.dumps(depends, sort_keys=True).encode()).hexdigest()[:16]


def _stored(
    training: "TrainingJob", measure: Measure, depends: Mapping[str, Any]
) -> tuple[Path, dict[str, Any]]:
    """The file of a measure, and what it depends on."""
    key = {"version": measure.version, **depends}
    return training.folder / "measurements" / f"{measure.name}-{digest(key)}.json", key
