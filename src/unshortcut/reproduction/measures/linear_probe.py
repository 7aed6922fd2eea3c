"""Accuracy of a linear probe on every test set, and its shape bias on conflicting cues."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from unshortcut.reproduction.measure import Measure

if TYPE_CHECKING:
    from unshortcut.probes.base import Probe
    from unshortcut.reproduction.evaluation import Evaluation


@dataclass(frozen=True)
class LinearProbeMeasure(Measure):
    """A linear probe on the training data, with settings chosen on a part of them.

    Metrics, in percent: the accuracy on every test set, for more than ten classes also the top-5
    accuracy (`test_top5`), and for conflicting cues `shape_bias`, `coverage`, and the accuracies on
    both labels, `conflict_shape` and `conflict_texture`. If the evaluation has a protocol,
    accuracies are those of a classifier that is trained by it.
    """

    name: ClassVar[str] = "linear_probe"
    version: ClassVar[int] = 2
    uses: ClassVar[tuple[str, ...]] = ("tests",)

    seeds: int = 3
    """Number of probes of one encoder, whose metrics are averaged."""

    def dependencies(self, evaluation: "Evaluation") -> dict[str, Any]:
        tests = {name: test.fingerprint() for name, test in evaluation.tests.items()}
        train = evaluation.train.fingerprint()
        return {"train": train, "tests": tests, "seeds": self.seeds, **evaluation.probe_settings}

    def compute(self, run: Path, evaluation: "Evaluation") -> dict[str, float]:
        from unshortcut.models.load import load_model
        from unshortcut.probes.kinds.linear import LinearProbe
        from unshortcut.probes.run import probe
        from unshortcut.reproduction.biased_probe import ProbeWithBias, conflicts_in

        tests, settings = evaluation.tests, evaluation.probe_settings
        conflicts, model = conflicts_in(tests), load_model(run)
        metrics: dict[str, float] = {}
        kinds: list[Probe] = []
        if conflicts or not settings:
            kinds.append(ProbeWithBias(self.seeds, conflicts))
        if settings:
            kinds.append(LinearProbe(self.seeds, **settings))
        for kind in kinds:
            found = probe(model, evaluation.train, kind, tests=tests, console=evaluation.console)
            metrics |= found.means()
        return metrics
