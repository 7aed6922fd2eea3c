"""Plotly figures of an audit: curves and bars with intervals, one color per model.

The page chooses all colors: it has a light and a dark theme, and a model keeps its color in every
plot, even if a measurement of another model has failed.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import plotly.io

from unshortcut.files import atomic_open
from unshortcut.measuring.estimates import Estimate

PALETTE = ("#3b82c4", "#d9742b", "#2a9d78", "#b5588f", "#8a78d6", "#b39425", "#5aa9c9", "#a65a4a")
"""Colors of the models, in their order; color-blind readers can tell them apart."""

Numbers = Sequence[float]


def color(model: str) -> str:
    """A placeholder for the color of a model, which the page replaces; itself a valid color."""
    return f"#{hashlib.sha256(model.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}"


def model_colors(models: Iterable[str]) -> dict[str, str]:
    """The colors of all models, by their placeholders."""
    return {color(name): PALETTE[index % len(PALETTE)] for index, name in enumerate(models)}


def chance_level(chances: Iterable[float]) -> dict[str, float]:
    """The accuracy of guessing as a level of a plot, if it is the same for all models."""
    distinct = set(chances)
    return {"chance": distinct.pop()} if len(distinct) == 1 else {}


@dataclass(frozen=True)
class Curve:
    """The points of a line, optionally with intervals."""

    x: Numbers
    y: Numbers
    low: Numbers | None = None
    high: Numbers | None = None
    dash: str | None = None  # Plotly's line style, which tells lines of the same model apart
    model: str | None = None  # gives the line its color; by default the line's own name

    @classmethod
    def of(
        cls,
        x: Numbers,
        points: Sequence[Estimate],
        *,
        dash: str | None = None,
        model: str | None = None,
    ) -> "Curve":
        """A line through estimates, with their intervals."""
        return cls(x, *_ends(points), dash, model)


def curves(
    lines: Mapping[str, Curve],
    x_title: str,
    y_title: str,
    *,
    percent: bool = True,
    levels: Mapping[str, float] | None = None,
    x_shares: bool = False,
) -> dict[str, Any]:
    """A plot of named lines.

    Args:
        levels: dotted horizontal lines by name, e.g. chance or the accuracy on clean images.
        x_shares: whether x values are shares from 0 to 1, shown on a logarithmic axis with a tick
            at each of them.
    """
    figure = go.Figure()
    for name, line in lines.items():
        own = color(name if line.model is None else line.model)
        figure.add_scatter(
            x=list(line.x),
            y=list(line.y),
            name=name,
            mode="lines+markers",
            line={"color": own, "dash": line.dash},
            error_y=error_bars(line.y, line.low, line.high, own),
        )
    figure.update_layout(xaxis_title=x_title)
    if x_shares:
        ticks = sorted({x for line in lines.values() for x in line.x})
        labels = [f"{100 * tick:.3g} %" for tick in ticks]
        figure.update_xaxes(type="log", tickvals=ticks, ticktext=labels)
    return _finished(figure, y_title, percent, levels)


@dataclass(frozen=True)
class Bars:
    """The heights of one model's bars, optionally with intervals."""

    y: Numbers
    low: Numbers | None = None
    high: Numbers | None = None

    @classmethod
    def of(cls, heights: Sequence[Estimate]) -> "Bars":
        """Bars as high as estimates, with their intervals."""
        return cls(*_ends(heights))


def bars(
    groups: Sequence[str],
    series: Mapping[str, Bars],
    y_title: str,
    *,
    percent: bool = True,
    levels: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """A plot of groups of bars, each group with one bar per model.

    Args:
        series: the bars of each model, one per group.
        levels: dotted horizontal lines by name.
    """
    figure = go.Figure()
    for name, one in series.items():
        figure.add_bar(
            x=list(groups),
            y=list(one.y),
            name=name,
            marker={"color": color(name)},
            error_y=error_bars(one.y, one.low, one.high),
        )
    figure.update_layout(barmode="group")
    figure.update_xaxes(type="category")
    return _finished(figure, y_title, percent, levels)


def error_bars(
    values: Numbers, low: Numbers | None, high: Numbers | None, color: str | None = None
) -> dict[str, Any] | None:
    """Intervals in Plotly's form; None if there are none."""
    if low is None or high is None:
        return None
    return {
        "type": "data",
        "symmetric": False,
        "array": [top - value for top, value in zip(high, values, strict=True)],
        "arrayminus": [value - bottom for bottom, value in zip(low, values, strict=True)],
        "thickness": 1,
        "width": 3,
        "color": color,
    }


def plain(figure: go.Figure) -> dict[str, Any]:
    """A figure as plain values, without Plotly's template."""
    figure.update_layout(template=None)
    content: dict[str, Any] = figure.to_plotly_json()
    return {"data": list(content["data"]), "layout": content["layout"]}


def write_html(path: str | Path, figure: dict[str, Any], models: Iterable[str], title: str) -> None:
    """Write a figure of models as a self-contained HTML page, which needs no network."""
    text = plotly.io.to_json(figure, validate=False)
    for placeholder, shown in model_colors(models).items():
        text = text.replace(f'"{placeholder}"', f'"{shown}"')
    page = go.Figure(json.loads(text)).update_layout(title=title, template="plotly_white")
    with atomic_open(path) as file:
        file.write(page.to_html(include_plotlyjs=True).encode())


def _finished(
    figure: go.Figure, y_title: str, percent: bool, levels: Mapping[str, float] | None
) -> dict[str, Any]:
    figure.update_traces(hovertemplate="%{x}: %{y:.1%}" if percent else "%{x}: %{y:.3f}")
    for name, level in (levels or {}).items():
        figure.add_hline(y=level, line={"dash": "dot", "width": 1}, annotation={"text": name})
    figure.update_layout(yaxis_title=y_title)
    figure.update_yaxes(tickformat=".0%" if percent else None)
    return plain(figure)


def _ends(estimates: Sequence[Estimate]) -> tuple[list[float], list[float], list[float]]:
    """Values, lower and upper ends of the intervals."""
    return (
        [one.value for one in estimates],
        [one.low for one in estimates],
        [one.high for one in estimates],
    )
