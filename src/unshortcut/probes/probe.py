"""What a probe is: an evaluation of frozen features, found by being in `kinds/`."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from unshortcut.parts import PartOf
from unshortcut.probes.features import Features


@dataclass(frozen=True)
class Score:
    """Accuracy on one test set, in percent: mean and standard deviation over seeds."""

    mean: float
    std: float | None = None


@dataclass(frozen=True)
class ProbeResult:
    """What a probe found."""

    kind: str
    scores: dict[str, Score]
    """By the name of the test set."""
    chosen: dict[str, Any] = field(default_factory=dict)
    """Settings that were chosen on a held-out part of the training features."""

    def figures(self) -> dict[str, Any]:
        """The plain form for `result.json`."""
        scores = {
            name: {"accuracy": score.mean, **({} if score.std is None else {"std": score.std})}
            for name, score in self.scores.items()
        }
        return {"kind": self.kind, "chosen": self.chosen, **scores}


class Probe(ABC):
    """A frozen dataclass whose fields are its settings; fits on train, never looks at tests."""

    name: ClassVar[str]

    @abstractmethod
    def run(self, train: Features, tests: Mapping[str, Features]) -> ProbeResult:
        """Fit a readout on labelled training features and score it on each test set."""


PROBES = PartOf("unshortcut.probes.kinds", Probe, "kind of probe")
