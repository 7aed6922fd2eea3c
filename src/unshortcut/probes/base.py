"""The base class of probes, which evaluate frozen features, and what a probe returns."""

import statistics
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from unshortcut.data.source import ImageSource
from unshortcut.inference.features import Features
from unshortcut.intervals import t_half_width
from unshortcut.parts import PartOf
from unshortcut.probes.class_subset import marked
from unshortcut.probes.matrices import Accuracy
from unshortcut.progress import OnProgress


@dataclass(frozen=True)
class Crops:
    """A request for random resized crops and flips in place of the center crop."""

    epoch: int
    """The key of the crops, together with the index of an image."""
    keep: bool = True
    """Whether the features are needed again, and are therefore cached."""


class Extract(Protocol):
    """A function that computes the features of a source."""

    def __call__(
        self,
        source: ImageSource,
        name: str,
        crops: Crops | None = None,
        on_progress: OnProgress | None = None,
        /,
    ) -> Features:
        """The features of a source; `name` is shown with the progress bar.

        `on_progress` reports the progress of crops, for which no bar is shown.
        """
        ...


@dataclass(frozen=True)
class Score:
    """Accuracy on one test set, in percent: mean and standard deviation over seeds or trials.

    For images that may show several classes it is the mean average precision (`metric`).
    """

    mean: float
    std: float | None = None
    interval: float | None = None
    """Half the width of the 95 % confidence interval of the mean, if the probe computes one."""
    top5: "Score | None" = None
    """Top-5 accuracy, if there are more than ten classes."""
    metric: str = "accuracy"
    """`accuracy`, or `map` for the mean average precision."""
    others: Mapping[str, float] = field(default_factory=dict)
    """Further figures by name, in percent."""

    @classmethod
    def of(cls, found: Accuracy) -> "Score":
        """The score of a single fit."""
        return cls(100 * found.top1, top5=None if found.top5 is None else cls(100 * found.top5))

    @classmethod
    def over(cls, found: Sequence[Accuracy], *, interval: bool = False) -> "Score":
        """The score over seeds or trials, with the interval of the mean if requested."""

        def score(values: Sequence[float], top5: Score | None = None) -> Score:
            std = 100 * statistics.stdev(values) if len(values) > 1 else None
            margin = t_half_width([100 * value for value in values]) if interval else None
            return cls(100 * statistics.fmean(values), std, margin, top5)

        top5 = [one.top5 for one in found if one.top5 is not None]
        return score([one.top1 for one in found], score(top5) if top5 else None)

    def to_dict(self) -> dict[str, float]:
        """The values that are known: `accuracy`, `std`, `interval`, and the same for `top5`.

        For images that may show several classes: `map` and the other figures by their names.
        """
        plain = {self.metric: self.mean, "std": self.std, "interval": self.interval, **self.others}
        if self.top5 is not None:
            top5 = self.top5
            plain |= {"top5": top5.mean, "top5_std": top5.std, "top5_interval": top5.interval}
        return {key: value for key, value in plain.items() if value is not None}

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
    training: dict[str, Any] = field(default_factory=dict)
    """How the classifier was trained, if as in a paper: the `protocol`, the `views`, a `note`."""

    def means(self) -> dict[str, float]:
        """Mean accuracy by test set and, if there are many classes, top-5 by `NAME_top5`."""
        means = {}
        for name, score in self.scores.items():
            means[name] = score.mean
            if score.top5 is not None:
                means[f"{name}_top5"] = score.top5.mean
        return means

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, for `result.json`."""
        scores = {name: score.to_dict() for name, score in self.scores.items()}
        training = {"training": self.training} if self.training else {}
        return {"kind": self.kind, "chosen": self.chosen, **training, **scores}


class Probe(ABC):
    """An evaluation of frozen features; a frozen dataclass whose fields are its settings.

    A probe fits on the training features and chooses nothing on the test sets. Most probes only
    implement `run`; a probe that transforms the images, such as `RotationProbe`, overrides
    `measure`.
    """

    name: ClassVar[str]
    needs_labels: ClassVar[bool] = True
    """Whether all images must have one label each; test sets may have fewer classes than the
    training data."""

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
