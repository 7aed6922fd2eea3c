"""Effects that a claim predicts: paired over seeds, with a 95 % interval and a word.

Variants are paired by seed, because they share its data order and initial weights. An effect is a
contrast, a weighted sum of the metrics of variants, computed for each seed; its interval is
Student's t over the seeds. The words:

- *appears*: the interval lies on the predicted side of 0;
- *reversed*: it lies on the other side;
- *no effect*: it contains 0 and lies within a margin that was stated beforehand;
- *not decided*: it contains 0 and reaches beyond the margin, or there is only one seed.

Intervals are not corrected for multiple comparisons: about one in twenty misses by chance, which is
why each claim registers one primary effect (`registration`).
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

POINTS = 2.0
"""Margin in points of accuracy or bias; set before any training."""
COSINE = 0.03
"""Margin of cosine similarities; set before any training."""

Sign = Literal[-1, 1]
Word = Literal["appears", "reversed", "no effect", "not decided"]
NOT_DECIDED: Word = "not decided"
MetricsBySeed = Mapping[str, Sequence[Mapping[str, float]]]
"""By variant, one mapping per seed (in the same order for all variants): metrics by measure."""
PaperMetrics = Mapping[str, Mapping[str, float]]
"""By variant: the metrics that the paper prints, by measure."""


@dataclass(frozen=True)
class EffectResult:
    """An estimated effect with its interval and word."""

    what: str
    measure: str
    values: tuple[float, ...]
    """One value per seed."""
    interval: tuple[float, float] | None
    """None for one seed."""
    verdict: Word | None
    """None if nothing was predicted."""
    paper: float | None = None
    """The same contrast computed from the metrics of the paper."""
    predicted: Sign | None = None
    margin: float = POINTS

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
            "predicted": self.predicted,
            "margin": self.margin,
            "verdict": self.verdict,
        }


@dataclass(frozen=True)
class Effect:
    """A weighted sum of the metrics of variants, with a predicted sign."""

    what: str
    measure: str
    weights: Mapping[str, float]
    """Weight by variant."""
    predicted: Sign | None = None
    """None if nothing is predicted; then the effect gets no word."""
    margin: float = POINTS
    """How far from 0 still counts as no effect, in units of the measure."""
    paper: float | None = None
    """The value of the paper, if it is not the contrast of the same variants."""
    requires: "Effect | None" = None
    """An effect that must appear for this one to mean anything; else it is *not decided*."""

    @property
    def variants(self) -> set[str]:
        """Labels of the variants whose metrics are needed."""
        return {*self.weights, *(self.requires.variants if self.requires is not None else ())}

    def find(self, metrics: MetricsBySeed, paper: PaperMetrics) -> EffectResult:
        """The effect in these metrics, next to the same contrast of the paper."""
        seeds = len(next(iter(metrics.values())))
        values = tuple(
            sum(weight * metrics[v][seed][self.measure] for v, weight in self.weights.items())
            for seed in range(seeds)
        )
        interval = t_interval(values)
        verdict = None
        if self.predicted is not None:
            verdict = word(self.predicted, interval, self.margin)
            if self.requires is not None:
                first = self.requires.find(metrics, paper).verdict
                verdict = verdict if first == "appears" else NOT_DECIDED
        return EffectResult(
            self.what,
            self.measure,
            values,
            interval,
            verdict,
            self.in_paper(paper),
            self.predicted,
            self.margin,
        )

    def in_paper(self, paper: PaperMetrics) -> float | None:
        """The value of the paper, if it prints the metrics of all variants."""
        if self.paper is not None:
            return self.paper
        if not all(self.measure in paper[variant] for variant in self.weights):
            return None
        return sum(weight * paper[v][self.measure] for v, weight in self.weights.items())


def word(predicted: Sign, interval: tuple[float, float] | None, margin: float = POINTS) -> Word:
    """The word for an interval; None is the interval of one seed."""
    if interval is None:
        return NOT_DECIDED
    low, high = sorted(predicted * end for end in interval)
    if low > 0:
        return "appears"
    if high < 0:
        return "reversed"
    return "no effect" if -margin <= low and high <= margin else NOT_DECIDED


def difference(
    measure: str,
    first: str,
    second: str,
    predicted: Sign | None = None,
    *,
    margin: float = POINTS,
    paper: float | None = None,
) -> Effect:
    """The difference between two variants."""
    weights = {first: 1.0, second: -1.0}
    return Effect(f"{first} - {second}", measure, weights, predicted, margin, paper)


def not_worse(
    measure: str,
    first: str,
    second: str,
    *,
    margin: float = POINTS,
    paper: float | None = None,
    requires: Effect | None = None,
) -> Effect:
    """The paper claims that one variant is no worse than another.

    A gain *appears*, a loss is *reversed*; *no effect* agrees with the claim too.
    """
    weights = {first: 1.0, second: -1.0}
    return Effect(f"{first} - {second}", measure, weights, 1, margin, paper, requires)


def won_back(measure: str, full: str, lost: str, variant: str) -> Effect:
    """A variant wins back more than half of the loss from `full` to `lost`, if there is a loss."""
    half = {variant: 1.0, full: -0.5, lost: -0.5}
    loss = difference(measure, full, lost, 1)
    return Effect("won back minus half of the loss", measure, half, 1, requires=loss)


def slope(
    what: str,
    measure: str,
    positions: Mapping[str, float],
    predicted: Sign | None = None,
    *,
    margin: float = POINTS,
) -> Effect:
    """The least-squares slope over the positions of the variants on an axis.

    `margin` is for the change over the whole axis.
    """
    center = statistics.fmean(positions.values())
    scatter = sum((position - center) ** 2 for position in positions.values())
    weights = {variant: (position - center) / scatter for variant, position in positions.items()}
    span = max(positions.values()) - min(positions.values())
    return Effect(what, measure, weights, predicted, margin / span)


def t_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Student's t interval of the mean; None for one value."""
    from unshortcut.intervals import t_half_width

    reach, mean = t_half_width(values), statistics.fmean(values)
    return None if reach is None else (mean - reach, mean + reach)
