"""Effects that a claim predicts: paired over seeds, with a 95 % interval and a verdict in words.

A seed is one pair: all variants share its data order and first weights. An effect is a contrast,
a weighted sum of the variants' metrics, taken for each seed; its interval is Student's t over the
seeds. What a verdict means:

- *appears*: the interval lies on the predicted side of 0, or of what counts as nothing;
- *reversed*: it lies on the other side;
- *does not appear*: it contains 0, so these seeds do not tell.

Where equality is claimed, a margin in points says how much worse still counts as equal:

- *exceeds*: the interval lies above 0; *matches*: above minus the margin;
- *falls short*: below 0, and not within the margin; *undecided*: too wide to tell.

Where nothing is predicted, a difference is *higher*, *lower* or *not told apart*. One seed has no
interval: *one seed, as predicted* or *one seed, against the prediction*.

Every interval is for its own effect: among twenty, one of 95 % misses by chance.
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from unshortcut.intervals import t_half_width

EQUAL = 2.0
"""Points of accuracy that count as nothing where equality is claimed; set before any training."""

Sign = Literal[-1, 1]
Figures = Mapping[str, Sequence[Mapping[str, float]]]
"""By variant: for each seed, in the same order for all variants, metrics by measure."""
PaperFigures = Mapping[str, Mapping[str, float]]
"""By variant: the paper's metrics by measure, where it prints them."""


@dataclass(frozen=True)
class Finding:
    """An effect as it was found."""

    what: str
    measure: str
    values: tuple[float, ...]
    """One a seed."""
    interval: tuple[float, float] | None
    """None for one seed."""
    verdict: str
    paper: float | None = None
    """The same contrast of the paper's metrics."""

    @property
    def mean(self) -> float:
        return statistics.fmean(self.values)

    def plain(self) -> dict[str, Any]:
        """For JSON."""
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
    """What a claim may predict."""

    @property
    def measure(self) -> str: ...

    @property
    def variants(self) -> Iterable[str]:
        """Those whose metrics it needs."""
        ...

    def find(self, metrics: Figures, paper: PaperFigures) -> Finding: ...


@dataclass(frozen=True)
class Contrast:
    """A weighted sum of the variants' metrics whose sign is predicted."""

    what: str
    measure: str
    weights: Mapping[str, float]
    """By variant."""
    predicted: Sign | None = None
    margin: float | None = None
    """Where equality is predicted: how much below 0 counts as equal, in the measure's units."""
    beyond: float = 0.0
    """Where a sign is predicted: how far from 0 still counts as nothing, in the same units."""
    paper: float | None = None
    """The paper's value, where it is not the contrast of the same variants."""

    @property
    def variants(self) -> Iterable[str]:
        return self.weights

    def find(self, metrics: Figures, paper: PaperFigures) -> Finding:
        seeds = len(next(iter(metrics.values())))
        values = tuple(
            sum(weight * metrics[v][seed][self.measure] for v, weight in self.weights.items())
            for seed in range(seeds)
        )
        interval = t_interval(values)
        verdict = self._verdict(statistics.fmean(values), interval)
        return Finding(self.what, self.measure, values, interval, verdict, self._paper(paper))

    def _verdict(self, mean: float, interval: tuple[float, float] | None) -> str:
        if self.margin is not None:
            return equality(mean, interval, self.margin)
        if self.predicted is None:
            return direction(interval)
        return sign(self.predicted, mean, interval, self.beyond)

    def _paper(self, paper: PaperFigures) -> float | None:
        if self.paper is not None:
            return self.paper
        if not all(self.measure in paper[variant] for variant in self.weights):
            return None
        return sum(weight * paper[v][self.measure] for v, weight in self.weights.items())


@dataclass(frozen=True)
class Peak:
    """The highest mean lies at another variant than the base.

    It looks at the best of several, so its interval is that of a choice after the fact.
    """

    measure: str
    base: str
    others: Sequence[str]

    @property
    def variants(self) -> Iterable[str]:
        return (self.base, *self.others)

    def find(self, metrics: Figures, paper: PaperFigures) -> Finding:
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
    """A variant wins back more than half of what was lost from a full one."""

    measure: str
    full: str
    lost: str
    variant: str

    @property
    def variants(self) -> Iterable[str]:
        return (self.full, self.lost, self.variant)

    def find(self, metrics: Figures, paper: PaperFigures) -> Finding:
        loss = difference(self.measure, self.full, self.lost, 1).find(metrics, paper)
        gain = difference(self.measure, self.variant, self.lost, 1).find(metrics, paper)
        half = {self.variant: 1.0, self.full: -0.5, self.lost: -0.5}
        found = Contrast("won back minus half of the loss", self.measure, half, 1)
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
) -> Contrast:
    """One variant minus another."""
    weights = {first: 1.0, second: -1.0}
    what = f"{first} - {second}"
    return Contrast(what, measure, weights, predicted, beyond=beyond, paper=paper)


def holds(measure: str, first: str, second: str, margin: float = EQUAL) -> Contrast:
    """One variant is not worse than another."""
    return Contrast(f"{first} - {second}", measure, {first: 1.0, second: -1.0}, margin=margin)


def slope(
    what: str, measure: str, places: Mapping[str, float], predicted: Sign | None = None
) -> Contrast:
    """The least-squares slope over the variants' places on an axis."""
    center = statistics.fmean(places.values())
    spread = sum((place - center) ** 2 for place in places.values())
    weights = {variant: (place - center) / spread for variant, place in places.items()}
    return Contrast(what, measure, weights, predicted)


def t_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Student's t interval of the mean; None for one value."""
    reach, mean = t_half_width(values), statistics.fmean(values)
    return None if reach is None else (mean - reach, mean + reach)


def sign(
    predicted: Sign, mean: float, interval: tuple[float, float] | None, beyond: float = 0.0
) -> str:
    """The verdict on a predicted sign, where up to `beyond` counts as nothing."""
    if interval is None:
        return _one_seed(mean * predicted > beyond)
    low, high = sorted(predicted * end for end in interval)
    if low > beyond:
        return "appears"
    return "reversed" if high < 0 else "does not appear"


def equality(mean: float, interval: tuple[float, float] | None, margin: float) -> str:
    """The verdict on "not worse"."""
    if interval is None:
        return _one_seed(mean > -margin)
    low, high = interval
    if low > -margin:
        return "exceeds" if low > 0 else "matches"
    return "falls short" if high < 0 else "undecided"


def direction(interval: tuple[float, float] | None) -> str:
    """The verdict where nothing is predicted."""
    if interval is None:
        return "one seed"
    low, high = interval
    return "higher" if low > 0 else "lower" if high < 0 else "not told apart"


def _one_seed(as_predicted: bool) -> str:
    return "one seed, as predicted" if as_predicted else "one seed, against the prediction"
