"""What a measurement is: it turns a trained run into metrics, which are kept beside the run."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from unshortcut.files import write_json
from unshortcut.reproduction.evaluation import Evaluation
from unshortcut.reproduction.trainings import Training


class Measure(ABC):
    """A frozen dataclass whose fields are its settings."""

    name: ClassVar[str]
    version: ClassVar[int] = 1
    """Raised when the same run and settings would give other metrics."""
    uses: ClassVar[tuple[str, ...]] = ()
    """Which of the data that a user adds it looks at: `tests`, `transfers`."""

    @abstractmethod
    def depends(self, evaluation: Evaluation) -> dict[str, Any]:
        """All that the metrics depend on besides the run, as plain values.

        Raises `UsageError` where the data do not allow the measurement; nothing is trained then.
        """

    @abstractmethod
    def take(self, run: Path, evaluation: Evaluation) -> dict[str, float]:
        """The metrics of a run."""


def measured(
    training: Training, measure: Measure, depends: Mapping[str, Any], evaluation: Evaluation
) -> dict[str, float]:
    """The metrics of a finished training: taken now, or by an earlier command.

    `depends` is what `measure.depends(evaluation)` says, which takes a while on large data.
    """
    key = {"version": measure.version, **depends}
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:16]
    path = training.folder / "measurements" / f"{measure.name}-{digest}.json"
    try:
        known: dict[str, float] = json.loads(path.read_text(encoding="utf-8"))["metrics"]
        return known
    except (OSError, ValueError, KeyError):
        metrics = measure.take(training.run.path, evaluation)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, {"depends": key, "metrics": metrics})
    return metrics
