"""Accuracy under a change of domain: a readout fitted on one data set, tested on another."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from unshortcut.probes.run import probe
from unshortcut.reproduction.evaluation import Evaluation
from unshortcut.reproduction.measure import Measure


@dataclass(frozen=True)
class Transfer(Measure):
    """A linear readout for every pair of data sets that was given, e.g. photos and sketches.

    Its settings are chosen on a part of the first. Figures are accuracies in percent.
    """

    name: ClassVar[str] = "transfer"
    uses: ClassVar[tuple[str, ...]] = ("transfers",)

    seeds: int = 3

    def depends(self, evaluation: Evaluation) -> dict[str, Any]:
        pairs = {
            name: [fitted.fingerprint(), tested.fingerprint()]
            for name, (fitted, tested) in evaluation.transfers.items()
        }
        return {"pairs": pairs, "seeds": self.seeds}

    def take(self, run: Path, evaluation: Evaluation) -> dict[str, float]:
        metrics = {}
        for name, (fitted, tested) in evaluation.transfers.items():
            found = probe(
                run, fitted, tests={name: tested}, console=evaluation.console, seeds=self.seeds
            )
            metrics[name] = found.scores[name].mean
        return metrics
