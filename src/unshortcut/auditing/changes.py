"""What has changed since an earlier audit, metric by metric, with intervals."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from unshortcut.auditing.previous import Difference, PreviousAudit
from unshortcut.measurements.measurement import Metric
from unshortcut.measuring.estimates import UNKNOWN, Estimate, difference

if TYPE_CHECKING:
    from unshortcut.auditing.findings import Findings

Direction = Literal["better", "worse", "higher", "lower", ""]


@dataclass(frozen=True)
class Change:
    """A metric in two audits."""

    name: str  # as in `--require`
    before: Metric
    now: Metric

    @property
    def by(self) -> Estimate:
        """Now minus before. The interval treats the images of the two audits as independent."""
        ends = [end for one in (self.before, self.now) for end in (one.low, one.high)]
        value = self.now.value - self.before.value
        if any(end is None or math.isnan(end) for end in ends):
            return Estimate(value, UNKNOWN.low, UNKNOWN.high)
        return difference(_estimate(self.now), _estimate(self.before))

    @property
    def direction(self) -> Direction:
        """The direction of a change whose interval excludes 0; empty for any other."""
        if not (self.by.low > 0 or self.by.high < 0):
            return ""
        up = self.by.value > 0
        if self.now.better is None:
            return "higher" if up else "lower"
        return "better" if up == (self.now.better == "higher") else "worse"


@dataclass(frozen=True)
class ModelChanges:
    """What has changed of one model."""

    model: str
    before: str | None
    """Its name in the earlier audit; None if that lacks it."""
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()
    """What a reader needs to know, such as which metrics only one of the audits has."""


@dataclass(frozen=True)
class Changes:
    """What has changed since an earlier audit."""

    previous: str
    """Name of the file of the earlier audit."""
    models: tuple[ModelChanges, ...]
    differences: tuple[Difference, ...]
    """Why numbers cannot be compared, if the earlier audit used other data or settings."""

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "previous": self.previous,
            "differences": [one.text for one in self.differences],
            "models": {one.model: _plain(one) for one in self.models},
        }


def changes_since(previous: PreviousAudit, findings: "Findings") -> Changes:
    """Compare the metrics of every model with those of the same model in an earlier audit."""
    judged = findings.judged
    return Changes(
        previous.name,
        tuple(_of_model(previous, findings, model) for model in judged),
        previous.differences(
            findings.data, findings.settings, findings.inputs, findings.num_images
        ),
    )


def _of_model(previous: PreviousAudit, findings: "Findings", model: str) -> ModelChanges:
    name = previous.counterpart(model, findings.judged)
    if name is None:
        return ModelChanges(model, None, notes=(previous.without_model(model),))
    before, now = previous.metrics(name), findings.metrics(model)
    both = tuple(Change(one, before[one], now[one]) for one in now if one in before)
    notes = []
    if name != model:
        notes.append(f"compared with '{name}', the only model of the previous audit")
    classified, earlier = findings.models[model].classifier, previous.content.models[name]
    if earlier.classifier != classified:
        notes.append(f"classified by {earlier.classifier} before, and by {classified} now")
    notes += _missing(before, now)
    if not both:
        notes.append("the two audits have no metric of it in common")
    return ModelChanges(model, name, both, tuple(notes))


def _missing(before: Mapping[str, Metric], now: Mapping[str, Metric]) -> list[str]:
    new, gone = ([one for one in a if one not in b] for a, b in ((now, before), (before, now)))
    notes = []
    if new:
        notes.append(f"not in the previous audit: {', '.join(new)}")
    if gone:
        notes.append(f"only in the previous audit: {', '.join(gone)}")
    return notes


def _estimate(metric: Metric) -> Estimate:
    assert metric.low is not None and metric.high is not None
    return Estimate(metric.value, metric.low, metric.high)


def _plain(one: ModelChanges) -> dict[str, Any]:
    return {
        "previous_model": one.before,
        "notes": list(one.notes),
        "metrics": {
            change.name: {
                "before": _finite(change.before.value),
                "now": _finite(change.now.value),
                "difference": _finite(change.by.value),
                "low": _finite(change.by.low),
                "high": _finite(change.by.high),
                "direction": change.direction,
            }
            for change in one.changes
        },
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
