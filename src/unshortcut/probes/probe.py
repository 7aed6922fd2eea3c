"""What a probe is: an evaluation of frozen features, found by being in `kinds/`."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from unshortcut.data.source import ImageSource
from unshortcut.inference.features import Features
from unshortcut.parts import PartOf

Extract = Callable[[ImageSource, str], Features]
"""(source, name of it for the progress bar) to features."""


@dataclass(frozen=True)
class Score:
    """Accuracy on one test set, in percent: mean and standard deviation over seeds or trials."""

    mean: float
    std: float | None = None
    interval: float | None = None
    """Half the width of the mean's 95 % interval, where a probe is repeated to give one."""


@dataclass(frozen=True)
class ProbeResult:
    """What a probe found."""

    kind: str
    scores: dict[str, Score]
    """By the name of the test set."""
    chosen: dict[str, Any] = field(default_factory=dict)
    """Settings that were chosen on a held-out part of the training features."""

    def to_dict(self) -> dict[str, Any]:
        """The plain form for `result.json`."""
        scores = {}
        for name, score in self.scores.items():
            plain = {"accuracy": score.mean, "std": score.std, "interval": score.interval}
            scores[name] = {key: value for key, value in plain.items() if value is not None}
        return {"kind": self.kind, "chosen": self.chosen, **scores}


class Probe(ABC):
    """A frozen dataclass whose fields are its settings; fits on train, never looks at tests.

    Most probes need `run` alone; one that looks at other images than those given (turned ones,
    say) overrides `measure`.
    """

    name: ClassVar[str]
    needs_labels: ClassVar[bool] = True
    """Whether the images given must have labels, and the tests the classes of train."""

    @abstractmethod
    def run(self, train: Features, tests: Mapping[str, Features]) -> ProbeResult:
        """Fit a readout on labeled training features and score it on each test set."""

    def measure(
        self, extract: Extract, train: ImageSource, tests: Mapping[str, ImageSource]
    ) -> ProbeResult:
        """From images to a result; `extract(source, name)` gives the features of a source."""
        features = {name: extract(source, name) for name, source in tests.items()}
        return self.run(extract(train, "train"), features)


PROBES = PartOf("unshortcut.probes.kinds", Probe, "kind of probe")
