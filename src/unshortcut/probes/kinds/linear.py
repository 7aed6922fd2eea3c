"""`--kind linear`: a linear classifier, by a grid solved at once or by a paper's own protocol."""

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from unshortcut.inference.features import Features
from unshortcut.probes.linear import LinearResult, linear_accuracy
from unshortcut.probes.matrices import Labeled
from unshortcut.probes.probe import Probe, ProbeResult, Score
from unshortcut.probes.protocols import Protocol, protocol_named, run_protocol


@dataclass(frozen=True)
class Linear(Probe):
    """Mean and standard deviation over seeds; each chooses its setting on held-out features."""

    name: ClassVar[str] = "linear"

    seeds: Annotated[int, Field(ge=1)] = 3
    protocol: str | None = None
    """A paper's own training instead: `moco`, `nsn`, `looc` or `mae`."""

    def run(self, train: Features, tests: Mapping[str, Features]) -> ProbeResult:
        labeled = (train.values, train.required_labels())
        held = {name: (test.values, test.required_labels()) for name, test in tests.items()}
        if self.protocol is not None:
            return self._by_protocol(protocol_named(self.protocol), labeled, held)
        result = linear_accuracy(
            labeled, held, classes=len(train.classes or ()) or None, seeds=range(self.seeds)
        )
        chosen = result.chosen
        return ProbeResult(
            self.name,
            {name: Score(100 * result.mean(name), self._std(result, name)) for name in held},
            {"learning_rate": chosen.learning_rate, "weight_decay": chosen.weight_decay},
        )

    def _std(self, result: LinearResult, test: str) -> float | None:
        return 100 * result.std(test) if self.seeds > 1 else None

    def _by_protocol(
        self, protocol: Protocol, train: Labeled, tests: Mapping[str, Labeled]
    ) -> ProbeResult:
        runs = [run_protocol(protocol, train, tests, seed=seed) for seed in range(self.seeds)]
        scores = {}
        for name in tests:
            values = [100 * run[name] for run in runs]
            spread = statistics.stdev(values) if len(values) > 1 else None
            scores[name] = Score(statistics.fmean(values), spread)
        return ProbeResult(self.name, scores, {"protocol": protocol.name})
