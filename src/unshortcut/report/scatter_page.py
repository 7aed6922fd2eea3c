"""The page of a comparison: the scatter plot, the correlations and a table of the models."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from unshortcut.measurements.measurement import Metric
from unshortcut.measuring.exhibits import Cell, Column, Exhibit, Note, Plot, Table
from unshortcut.report.formats import correlation_text
from unshortcut.report.scatter import HEIGHT, scatter
from unshortcut.report.shell import ENVIRONMENT, render_page

if TYPE_CHECKING:
    from unshortcut.report.model_comparison import ComparedMetric, ModelComparison

DEFINITION = (
    "Every point is a model of an audit, and its bars are the 95 % intervals of both metrics, as "
    "far as the audit states them. The Pearson correlation measures how close the points are to a "
    "line; its interval is Fisher's, tanh(atanh r ± 1.96 / √(n − 3)). The Spearman correlation is "
    "that of the ranks, so it does not depend on the shape of the relation or on how far an "
    "exceptional model lies from the others; its interval is that of Bonett and Wright (2000). "
    "Both treat the models as an independent sample of all models, which models of one family are "
    "not, and neither accounts for the intervals of the points. The dotted line is that of least "
    "squares."
)


def render_scatter(comparison: "ModelComparison") -> str:
    """Render the page; the same comparison and version give the same page."""
    template = ENVIRONMENT.get_template("exhibits.html.j2")
    exhibits = Markup(template.render(exhibits=_exhibits(comparison), colors={}))  # escaped there
    found = comparison.correlations
    return render_page(
        "scatter.html.j2",
        plots=True,
        comparison=comparison,
        exhibits=exhibits,
        sentences={name: correlation_text(one) for name, one in found.items()},
        definition=DEFINITION,
    )


def _exhibits(comparison: "ModelComparison") -> Sequence[Exhibit]:
    several = len(comparison.audits) > 1
    columns = (
        Column("Model"),
        *_columns(comparison.x),
        *_columns(comparison.y),
        *((Column("Audit"),) if several else ()),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            point.model,
            *_cells(point.x),
            *_cells(point.y),
            *((point.audit,) if several else ()),
        )
        for point in comparison.points
    ]
    figure = scatter(comparison.points, line=not math.isnan(comparison.pearson.value))
    caption = "Bars are 95 % intervals. Hover over a point for its model and values."
    return [
        *(Note(text, warning=True) for text in comparison.warnings),
        Plot("One point per model", figure, caption, height=HEIGHT),
        Table("All models", columns, rows),
    ]


def _columns(metric: "ComparedMetric") -> tuple[Column, ...]:
    return Column.estimate(metric.label, percent=metric.percent)


def _cells(metric: Metric) -> tuple[Cell, ...]:
    return metric.value, metric.low, metric.high
