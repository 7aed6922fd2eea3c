"""The comparison of models: one row per metric, footnotes, and what was not measured."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from unshortcut.auditing.findings import Entry, Findings, Status
from unshortcut.measurements.measurement import Metric


@dataclass(frozen=True)
class Row:
    """One metric of all models that have it."""

    name: str  # of the metric, as in `--require`
    measurement: str
    metrics: Mapping[str, Metric]  # by model; not empty

    @property
    def label(self) -> str:
        return next(iter(self.metrics.values())).label

    @property
    def headline(self) -> bool:
        return any(metric.headline for metric in self.metrics.values())

    @property
    def better(self) -> str:
        return next(iter(self.metrics.values())).better or ""

    @property
    def best(self) -> frozenset[str]:
        """Models with the best value; none if all are equal or if neither direction is better."""
        values = {
            model: float(metric.value)
            for model, metric in self.metrics.items()
            if not math.isnan(metric.value)
        }
        if len(values) < 2 or not self.better:
            return frozenset()
        top = (max if self.better == "higher" else min)(values.values())
        chosen = frozenset(model for model, value in values.items() if value == top)
        return chosen if len(chosen) < len(values) else frozenset()

    @property
    def noted(self) -> bool:
        return any(metric.note for metric in self.metrics.values())

    @property
    def shared_note(self) -> str:
        """The note that all models have in common, if any."""
        notes = {metric.note for metric in self.metrics.values()}
        return notes.pop() if len(notes) == 1 else ""


def rows_of(findings: Findings, measurement: str) -> tuple[Row, ...]:
    """All metrics of one measurement. Raises whatever the measurement raises."""
    one, reference = findings.measurements[measurement], findings.reference(measurement)
    by_name: dict[str, dict[str, Metric]] = {}
    for model, result in findings.results(measurement).items():
        for name, metric in one.metrics(result, reference).items():
            by_name.setdefault(name, {})[model] = metric
    return tuple(Row(name, measurement, metrics) for name, metrics in by_name.items())


def headlines(findings: Findings) -> tuple[Row, ...]:
    """The metrics that models are compared by; a measurement that fails here has none."""
    found: list[Row] = []
    for name in findings.measurements:
        try:
            found += [row for row in rows_of(findings, name) if row.headline]
        except Exception:  # its section of the page says why
            continue
    return tuple(found)


def notes_of(rows: tuple[Row, ...]) -> dict[str, int]:
    """Footnotes and their numbers: each note once, in the order of the rows."""
    notes: dict[str, int] = {}
    for row in rows:
        for metric in row.metrics.values():
            if metric.note:
                notes.setdefault(metric.note, len(notes) + 1)
    return notes


@dataclass(frozen=True)
class Gap:
    """A reason why a measurement has no result for some models."""

    status: Status
    reason: str
    models: tuple[str, ...]  # empty if the reason applies to all models


def gaps(entries: Mapping[str, Entry]) -> tuple[Gap, ...]:
    """The gaps of one measurement, from its entries by model."""
    found: dict[tuple[Status, str], list[str]] = {}
    for model, one in entries.items():
        if one.status != "done":
            found.setdefault((one.status, one.reason), []).append(model)
    return tuple(
        Gap(status, reason, () if len(models) == len(entries) else tuple(models))
        for (status, reason), models in found.items()
    )
