"""What an encoder tells of an image besides its class: its turn, and of shapes color, position."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from unshortcut.models.load import load_model
from unshortcut.probes.run import probe
from unshortcut.reproduction.evaluation import Evaluation
from unshortcut.reproduction.measure import Measure
from unshortcut.reproduction.tasks import factors


@dataclass(frozen=True)
class Factors(Measure):
    """Accuracies in percent of a linear readout of the representation, for each factor.

    Of LooC that is the backbone, as in the paper; of LooC++ all branches side by side.
    """

    name: ClassVar[str] = "factors"
    uses: ClassVar[tuple[str, ...]] = ("tests",)

    seeds: int = 3

    def depends(self, evaluation: Evaluation) -> dict[str, Any]:
        return {"tasks": [task.depends() for task in factors(evaluation)], "seeds": self.seeds}

    def take(self, run: Path, evaluation: Evaluation) -> dict[str, float]:
        model = load_model(run)
        metrics: dict[str, float] = {}
        for task in factors(evaluation):
            found = probe(
                model,
                task.train,
                task.kind,
                tests=task.tests,
                console=evaluation.console,
                seeds=self.seeds,
            )
            metrics |= {name: score.mean for name, score in found.scores.items()}
        return metrics
