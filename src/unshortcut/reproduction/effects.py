"""Effects that a claim predicts: paired over seeds, with a 95 % interval and a verdict.

Variants are paired by seed, because they share its data order and initial weights. An effect is a
contrast, a weighted sum of the metrics of variants, computed for each seed; its interval is
Student's t over the seeds. Verdicts on a predicted sign:

- *appears*: the interval lies on the predicted side of 0 (or of a stated threshold);
- *reversed*: it lies on the other side;
- *does not appear*: it contains 0, so these seeds do not decide.

Verdicts on predicted equality, where a margin in points says how much worse still counts as equal:

- *exceeds*: the interval lies above 0; *matches*: it lies above minus the margin;
- *falls short*: it lies below 0 and not within the margin; *undecided*: it is too wide.

Without a prediction, a difference is *higher*, *lower* or *not told apart*. One seed has no
interval: *one seed, as predicted* or *one seed, against the prediction*.

Intervals are not corrected for multiple comparisons: about one in twenty misses by chance.
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

EQUAL = 2.0
"""Margin in points of accuracy where equality is claimed; set before any training."""

Sign = Literal[-1, 1]
MetricsBySeed = Mapping[str, Sequence[Mapping[str, float]]]
"""By variant, one mapping per seed (in the same order for all variants): metrics by measure."""
PaperMetrics = Mapping[str, Mapping[str, float]]
"""By variant: the metrics that the paper prints, by measure."""


@dataclass(frozen=True)
class EffectResult:
    """An estimated effect with its interval and verdict."""

    what: str
    measure: str
    values: tuple[float, ...]
    """One value per seed."""
    interval: tuple[float, float] | None
    """None for one seed."""
    verdict: str
    paper: float | None = None
    """The same contrast computed from the metrics of the paper."""

    @property
    def mean(self) -> float:
        return statistics.fmean(self.values)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values for JSON."""
        return {
            "effect": self.what,
            "measure": self.measure,
            "mean": self.mean,
            "values": list(self.values),
            "interval": None if self.interval is None else list(self.interval),
            "paper": self.paper,
            "verdict": self.verdict,
        }


class Effect(Protocol):
    """An effect that a claim predicts."""

    @property
    def measure(self) -> str: ...

    @property
    def variants(self) -> Iterable[str]:
        """Labels of the variants whose metrics are needed."""
        ...

    def find(self, metrics: MetricsBySeed, paper: PaperMetrics) -> EffectResult: ...


@dataclass(frozen=True)
class LinearContrast:
    """A weighted sum of the metrics of variants, with a predicted sign or equality."""

    what: str
    measure: str
    weights: Mapping[str, float]
    """Weight by variant."""
    predicted: Sign | None = None
    margin: float | None = None
    """If equality is predicted: how far below 0 still counts as equal, in units of the measure."""
    beyond: float = 0.0
    """If a sign is predicted: the threshold that must be exceeded, in units of the measure."""
    paper: float | None = None
    """The value of the paper, if it is not the contrast of the same variants."""

    @property
    def variants(self) -> Iterable[str]:
        return self.weights

    def find(self, metrics: MetricsBySeed, paper: PaperMetrics) -> EffectResult:
        seeds = len(next(iter(metrics.values())))
        values = tuple(
            sum(weight * metrics[v][seed][self.measure] for v, weight in self.weights.items())
            for seed in range(seeds)
        )
        interval = t_interval(values)
        verdict = self._verdict(statistics.fmean(values), interval)
        return EffectResult(self.what, self.measure, values, interval, verdict, self._paper(paper))

    def _verdict(self, mean: float, interval: tuple[float, float] | None) -> str:
        if self.margin is not None:
            return equality(mean, interval, self.margin)
        if self.predicted is None:
            return direction(interval)
        return sign(self.predicted, mean, interval, self.beyond)

    def _paper(self, paper: PaperMetrics) -> float | None:
        if self.paper is not None:
            return self.paper
        if not all(self.measure in paper[variant] for variant in self.weights):
            return None
        return sum(weight * paper[v][self.measure] for v, weight in self.weights.items())


@dataclass(frozen=True)
class Peak:
    """The highest mean is that of another variant than the base.

    The best variant is chosen after the fact, and the interval does not account for that.
    """

    measure: str
    base: str
    others: Sequence[str]

    @property
    def variants(self) -> Iterable[str]:
        return (self.base, *self.others)

    def find(self, metrics: MetricsBySeed, paper: PaperMetrics) -> EffectResult:
        means = {
            variant: statistics.fmean(one[self.measure] for one in metrics[variant])
            for variant in self.variants
        }
        best = max(self.others, key=means.__getitem__)
        highest = best if means[best] > means[self.base] else self.base
        printed = {v: paper[v][self.measure] for v in self.variants if self.measure in paper[v]}
        gain = max(printed.values()) - printed[self.base] if self.base in printed else None
        found = difference(self.measure, best, self.base, 1, paper=gain).find(metrics, paper)
        verdict = f"{found.verdict}, the best chosen after the fact; highest at {highest}"
        return replace(found, what=f"best - {self.base}", verdict=verdict)


@dataclass(frozen=True)
class WonBack:
    """A variant wins back more than half of the loss from `full` to `lost`."""

    measure: str
    full: str
    lost: str
    variant: str

    @property
    def variants(self) -> Iterable[str]:
        return (self.full, self.lost, self.variant)

    def find(self, metrics: MetricsBySeed, paper: PaperMetrics) -> EffectResult:
        loss = difference(self.measure, self.full, self.lost, 1).find(metrics, paper)
        gain = difference(self.measure, self.variant, self.lost, 1).find(metrics, paper)
        half = {self.variant: 1.0, self.full: -0.5, self.lost: -0.5}
        found = LinearContrast("won back minus half of the loss", self.measure, half, 1)
        finding = found.find(metrics, paper)
        if loss.verdict not in ("appears", _one_seed(True)):
            return replace(finding, verdict="does not apply: the loss does not appear")
        share = f"{100 * gain.mean / loss.mean:.0f} % of the loss won back"
        return replace(finding, verdict=f"{finding.verdict}; {share}")


def difference(
    measure: str,
    first: str,
    second: str,
    predicted: Sign | None = None,
    *,
    beyond: float = 0.0,
    paper: float | None = None,
) -> LinearContrast:
    """The difference between two variants."""
    weights = {first: 1.0, second: -1.0}
    what = f"{first} - {second}"
    return LinearContrast(what, measure, weights, predicted, beyond=beyond, paper=paper)


def not_worse(measure: str, first: str, second: str, margin: float = EQUAL) -> LinearContrast:
    """One variant is at most `margin` worse than another."""
    return LinearContrast(f"{first} - {second}", measure, {first: 1.0, second: -1.0}, margin=margin)


def slope(
    what: str, measure: str, positions: Mapping[str, float], predicted: Sign | None = None
) -> LinearContrast:
    """The least-squares slope over the positions of the variants on an axis."""
    center = statistics.fmean(positions.values())
    scatter = sum((position - center) ** 2 for position in positions.values())
    weights = {variant: (position - center) / scatter for variant, position in positions.items()}
    return LinearContrast(what, measure, weights, predicted)


def t_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Student's t interval of the mean; None for one value."""
    from unshortcut.intervals import t_half_width

    reach, mean = t_half_width(values), statistics.fmean(values)
    return None if reach is None else (mean - reach, mean + reach)


def sign(
    predicted: Sign, mean: float, interval: tuple[float, float] | None, beyond: float = 0.0
) -> str:
    """The verdict on a predicted sign, for an effect that must exceed `beyond`."""
    if interval is None:
        return _one_seed(mean * predicted > beyond)
    low, high = sorted(predicted * end for end in interval)
    if low > beyond:
        return "appears"
    return "reversed" if high < 0 else "does not appear"


def equality(mean: float, interval: tuple[float, float] | None, margin: float) -> str:
    """The verdict on predicted equality."""
    if interval is None:
        return _one_seed(mean > -margin)
    low, high = interval
    if low > -margin:
        return "exceeds" if low > 0 else "matches"
    return "falls short" if high < 0 else "undecided"


def direction(interval: tuple[float, float] | None) -> str:
    """The verdict if nothing is predicted."""
    if interval is None:
        return "one seed"
    low, high = interval
    return "higher" if low > 0 else "lower" if high < 0 else "not told apart"


def _one_seed(as_predicted: bool) -> str:
    return "one seed, as predicted" if as_predicted else "one seed, against the prediction"
