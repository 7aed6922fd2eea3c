"""Two metrics compared over any number of audited models: their scatter plot and correlation.

Figure 9 a of Ge et al. (2021) is such a plot: accuracy on textures and on photographs.
"""

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from unshortcut.errors import UsageError, unknown
from unshortcut.files import write_text
from unshortcut.measurements.measurement import Metric
from unshortcut.measuring.correlation import Correlation, pearson, spearman
from unshortcut.report.audit_files import AuditedModel, AuditLike, AuditResult, read_audits
from unshortcut.report.formats import correlation_text, interval_of, listed, printable, value_of
from unshortcut.report.scatter import ScatterPoint
from unshortcut.report.shell import notebook_frame


@dataclass(frozen=True)
class ComparedMetric:
    """One of the two metrics."""

    name: str
    """As in `--require`."""
    label: str
    percent: bool
    """Whether values are shares from 0 to 1, shown as percentages."""


@dataclass(frozen=True)
class ModelComparison:
    """Two metrics of models: as a page, in a notebook, as a table in a terminal, or as values."""

    x: ComparedMetric
    y: ComparedMetric
    points: tuple[ScatterPoint, ...]
    pearson: Correlation
    spearman: Correlation
    left_out: Mapping[str, tuple[str, ...]]
    """Models without one of the metrics, and the names of those that they lack."""
    audits: tuple[AuditResult, ...]
    command: str
    """Repeats the comparison."""
    page: Path | None = None
    """Where the page was written."""

    @property
    def title(self) -> str:
        """Both metrics in words."""
        second = self.y.label
        inside = second[:1].lower() + second[1:] if second[1:2].islower() else second
        return f"{self.x.label} and {inside}"

    @property
    def correlations(self) -> dict[str, Correlation]:
        return {"Pearson correlation": self.pearson, "Spearman rank correlation": self.spearman}

    @property
    def warnings(self) -> list[str]:
        """What a reader needs to know before comparing the models."""
        found = []
        lacking: dict[tuple[str, ...], list[str]] = {}
        for model, missing in self.left_out.items():
            lacking.setdefault(missing, []).append(model)
        for missing, models in lacking.items():
            found.append(f"Left out, without {listed(list(missing))}: {', '.join(models)}.")
        if len({audit.data for audit in self.audits}) > 1:
            each = "; ".join(f"{audit.name}: {audit.data}" for audit in self.audits)
            found.append(
                "The audits were made on different images, so their values may not be comparable. "
                f"{each}."
            )
        return found

    def html(self) -> str:
        """The page as HTML."""
        from unshortcut.report.scatter_page import render_scatter

        return render_scatter(self)

    def write(self, path: str | Path) -> None:
        """Write the page to a file, completely or not at all."""
        write_text(path, self.html())

    def to_dict(self) -> dict[str, Any]:
        """All values, for JSON."""
        return {
            "x": asdict(self.x),
            "y": asdict(self.y),
            "points": [
                {
                    "model": point.model,
                    "audit": point.audit,
                    "x": _plain(point.x),
                    "y": _plain(point.y),
                }
                for point in self.points
            ],
            "pearson": _without_nan(asdict(self.pearson)),
            "spearman": _without_nan(asdict(self.spearman)),
            "left_out": {model: list(missing) for model, missing in self.left_out.items()},
            "warnings": self.warnings,
        }

    def _repr_html_(self) -> str:
        return notebook_frame(self.html(), "Comparison of models")

    def __rich__(self) -> RenderableType:
        return Group(*self._shown())

    def _shown(self) -> Iterator[RenderableType]:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column("model", overflow="fold")
        for metric in (self.x, self.y):
            table.add_column(Text(printable(metric.label)), justify="right")
        for point in self.points:
            cells = []
            for value in (point.x, point.y):
                cells.append(Text(value_of(value)))
                if interval_of(value):
                    cells[-1].append(f"\n{interval_of(value)}", style="dim")
            table.add_row(Text(printable(point.model)), *cells)
        yield table
        for name, found in self.correlations.items():
            yield Text.assemble((name, "bold"), f": {correlation_text(found)}")
        for warning in self.warnings:
            yield Text(printable(warning), style="yellow")


def compare(
    audits: AuditLike | Sequence[AuditLike],
    x: str,
    y: str,
    *,
    labels: Mapping[str, str] | None = None,
    out: str | Path | None = None,
) -> ModelComparison:
    """Compare two metrics over all models of some audits: a scatter plot and their correlation.

    Args:
        audits: JSON files that `unshortcut audit --json` wrote, or reports that `audit` returned.
            Each may have several models.
        x: Name of the metric on the horizontal axis, as in `--require`.
        y: Name of the metric on the vertical axis.
        labels: Other names for models, by their names in the audits.
        out: File to write the page to.
    """
    given = [audits] if isinstance(audits, AuditLike) else list(audits)
    read = read_audits(given)
    models = _renamed([model for audit in read for model in audit.models], labels or {})
    known = {name for model in models for name in model.metrics}
    for name in (x, y):
        if name not in known:
            raise unknown("metric", name, known)
    points, left_out = [], {}
    for model in models:
        missing = tuple(name for name in dict.fromkeys((x, y)) if name not in model.metrics)
        if missing:
            left_out[model.name] = missing
        else:
            metrics = model.metrics[x], model.metrics[y]
            points.append(ScatterPoint(model.name, model.audit, *metrics))
    if not points:
        raise UsageError(
            f"no model has both {x} and {y}; measure both in the same audit of a model"
        )
    xs, ys = [one.x.value for one in points], [one.y.value for one in points]
    found = ModelComparison(
        _compared(x, points[0].x),
        _compared(y, points[0].y),
        tuple(points),
        pearson(xs, ys),
        spearman(xs, ys),
        left_out,
        read,
        shlex.join(["unshortcut", "compare", *(audit.name for audit in read), "--x", x, "--y", y]),
    )
    if out is not None:
        found.write(out)
        found = replace(found, page=Path(out))
    return found


def _renamed(models: Sequence[AuditedModel], labels: Mapping[str, str]) -> list[AuditedModel]:
    names = [model.name for model in models]
    for name in labels:
        if name not in names:
            raise unknown("model", name, names)
    return [replace(model, name=labels.get(model.name, model.name)) for model in models]


def _compared(name: str, metric: Metric) -> ComparedMetric:
    return ComparedMetric(name, metric.label, metric.percent)


def _plain(metric: Metric) -> dict[str, float]:
    ends = {"value": metric.value, "low": metric.low, "high": metric.high}
    return {key: value for key, value in ends.items() if value is not None}


def _without_nan(values: Mapping[str, Any]) -> dict[str, Any]:
    nan = {key for key, value in values.items() if isinstance(value, float) and math.isnan(value)}
    return {key: None if key in nan else value for key, value in values.items() if value != ""}
