"""Accuracy of every subset of the embedding spaces of a run (LooC, table 5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from unshortcut.reproduction.measure import Measure
from unshortcut.reproduction.measures.tasks import Task, class_task, factor_tasks, transfer_tasks

if TYPE_CHECKING:
    from unshortcut.reproduction.evaluation import Evaluation

ALL = "all"
"""Name of the subset that holds all spaces."""
_AT = "@"


@dataclass(frozen=True)
class SpacesMeasure(Measure):
    """Accuracy (%) of a linear probe on every subset of spaces, for every task.

    Metrics are named `TASK@SUBSET`, e.g. `color@invariant+color`. A run without spaces has none.
    """

    name: ClassVar[str] = "spaces"
    version: ClassVar[int] = 2
    uses: ClassVar[tuple[str, ...]] = ("tests", "transfers")

    seeds: int = 3

    def dependencies(self, evaluation: "Evaluation") -> dict[str, Any]:
        tasks = [task.dependencies() for task in _tasks(evaluation)]
        return {"tasks": tasks, "seeds": self.seeds, **evaluation.probe_settings}

    def compute(self, run: Path, evaluation: "Evaluation") -> dict[str, float]:
        from unshortcut.spaces.loading import has_spaces, load_spaces
        from unshortcut.spaces.subsets import probe_spaces

        if not has_spaces(run):
            return {}
        model, console = load_spaces(run), evaluation.console
        metrics: dict[str, float] = {}
        for task in _tasks(evaluation):
            found = probe_spaces(
                model,
                task.train,
                task.kind,
                tests=task.tests,
                console=console,
                seeds=self.seeds,
                **evaluation.probe_settings,
            )
            metrics |= {
                f"{name}{_AT}{subset_name(subset, model.spaces or ())}": mean
                for subset, result in found.items()
                for name, mean in result.means().items()
            }
        return metrics


def subset_name(subset: Sequence[str], spaces: Sequence[str]) -> str:
    """The name of a subset: `invariant+color`, or `all`."""
    return ALL if len(subset) == len(spaces) else "+".join(subset)


def of_subset(metrics: Mapping[str, float], subset: str | None) -> dict[str, float]:
    """The metrics of a subset by task; None selects those that belong to no subset."""
    found = {}
    for name, value in metrics.items():
        task, _, of = name.partition(_AT)
        if of == (subset or ""):
            found[task] = value
    return found


def _tasks(evaluation: "Evaluation") -> list[Task]:
    return [class_task(evaluation), *factor_tasks(evaluation), *transfer_tasks(evaluation)]
