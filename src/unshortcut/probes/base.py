"""The base class of probes, which evaluate frozen features, and what a probe returns."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from unshortcut.data.source import ImageSource
from unshortcut.inference.features import Features
from unshortcut.parts import PartOf
from unshortcut.probes.class_subset import marked

Extract = Callable[[ImageSource, str], Features]
"""Maps a source, and its name for the progress bar, to features."""


@dataclass(frozen=True)
class Score:
    """Accuracy on one test set, in percent: mean and standard deviation over seeds or trials."""

    mean: float
    std: float | None = None
    interval: float | None = None
    """Half the width of the 95 % confidence interval of the mean, if the probe computes one."""

    def __str__(self) -> str:
        margin = self.std if self.interval is None else self.interval
        return f"{self.mean:.2f} %" + ("" if margin is None else f" ± {margin:.2f}")


@dataclass(frozen=True)
class ProbeResult:
    """The scores of a probe on every test set."""

    kind: str
    scores: dict[str, Score]
    """Scores by the name of the test set."""
    chosen: dict[str, Any] = field(default_factory=dict)
    """Settings that were chosen on a held-out part of the training features."""

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, for `result.json`."""
        scores = {}
        for name, score in self.scores.items():
            plain = {"accuracy": score.mean, "std": score.std, "interval": score.interval}
            scores[name] = {key: value for key, value in plain.items() if value is not None}
        return {"kind": self.kind, "chosen": self.chosen, **scores}


class Probe(ABC):
    """An evaluation of frozen features; a frozen dataclass whose fields are its settings.

    A probe fits on the training features and chooses nothing on the test sets. Most probes only
    implement `run`; a probe that transforms the images, such as `RotationProbe`, overrides
    `measure`.
    """

    name: ClassVar[str]
    needs_labels: ClassVar[bool] = True
    """Whether all data must be labeled; test sets may have fewer classes than the training data."""

    @abstractmethod
    def run(self, train: Features, tests: Mapping[str, Features]) -> ProbeResult:
        """Fit a classifier on labeled training features and score it on each test set."""

    def measure(
        self, extract: Extract, train: ImageSource, tests: Mapping[str, ImageSource]
    ) -> ProbeResult:
        """Run the probe on images; `extract(source, name)` computes the features of a source."""
        features = {
            name: marked(extract(source, name), source, train) for name, source in tests.items()
        }
        return self.run(extract(train, "train"), features)


PROBES = PartOf("unshortcut.probes.kinds", Probe, "kind of probe")
