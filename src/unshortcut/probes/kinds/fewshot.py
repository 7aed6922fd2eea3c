"""`--kind fewshot`: a linear classifier on a few images per class (LooC, table 2)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field
from rich.console import Console

from unshortcut.inference.features import Features
from unshortcut.probes.base import Probe, ProbeResult, Score
from unshortcut.probes.few_shot import Solver, few_shot_top_accuracy
from unshortcut.progress import bar


@dataclass(frozen=True)
class FewShotProbe(Probe):
    """Mean accuracy over trials with its 95 % confidence interval, for each number of shots."""

    name: ClassVar[str] = "fewshot"

    shots: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1)] = (5, 10)
    """Numbers of training images per class."""
    solver: Solver = "exact"
    """`exact`, or `adam` for the training of the LooC paper."""
    trials: Annotated[int, Field(ge=1)] = 10
    seed: int = 0
    """Random seed for the images of the trials."""

    def run(self, train: Features, tests: Mapping[str, Features]) -> ProbeResult:
        with bar(Console(stderr=True), "few-shot trials") as on_progress:
            results = few_shot_top_accuracy(
                (train.values, train.required_labels()),
                {name: (test.values, test.required_labels()) for name, test in tests.items()},
                self.shots,
                classes=train.classes,
                solver=self.solver,
                trials=self.trials,
                seed=self.seed,
                on_progress=on_progress,
            )
        scores = {
            f"{name}, {shots}-shot": Score.over(accuracies[name], interval=True)
            for name in tests
            for shots, accuracies in results.items()
        }
        return ProbeResult(self.name, scores)
