"""Accuracy of a linear probe on every test set, and its shape bias on conflicting cues."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from unshortcut.reproduction.measure import Measure

if TYPE_CHECKING:
    from unshortcut.reproduction.evaluation import Evaluation


@dataclass(frozen=True)
class LinearProbeMeasure(Measure):
    """A linear probe on the training data, with settings chosen on a part of them.

    Metrics, in percent: the accuracy on every test set and, for conflicting cues, `shape_bias`,
    `coverage`, and the accuracies on both labels, `conflict_shape` and `conflict_texture`.
    """

    name: ClassVar[str] = "linear_probe"
    uses: ClassVar[tuple[str, ...]] = ("tests",)

    seeds: int = 3
    """Number of probes of one encoder, whose metrics are averaged."""

    def dependencies(self, evaluation: "Evaluation") -> dict[str, Any]:
        tests = {name: test.fingerprint() for name, test in evaluation.tests.items()}
        return {"train": evaluation.train.fingerprint(), "tests": tests, "seeds": self.seeds}

    def compute(self, run: Path, evaluation: "Evaluation") -> dict[str, float]:
        from unshortcut.models.load import load_model
        from unshortcut.probes.run import probe
        from unshortcut.reproduction.biased_probe import ProbeWithBias, conflicts_in

        tests = evaluation.tests
        kind = ProbeWithBias(self.seeds, conflicts_in(tests))
        found = probe(
            load_model(run), evaluation.train, kind, tests=tests, console=evaluation.console
        )
        return {name: score.mean for name, score in found.scores.items()}
