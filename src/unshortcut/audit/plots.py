"""Plots of the audit in Plotly's form: curves, bars and histograms, a colour a model.

Colours of text, axes and background are left to the page, which has a light and a dark side.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

PALETTE = ("#3b82c4", "#d9742b", "#2a9d78", "#b5588f", "#8a78d6", "#b39425", "#5aa9c9", "#a65a4a")
"""A colour a model, in the order of the models; they can be told apart by the colour-blind."""

Numbers = Sequence[float]


def colour(place: int) -> str:
    """Of the model at a place among those shown."""
    return PALETTE[place % len(PALETTE)]


@dataclass(frozen=True)
class Curve:
    """Points of one line, with the interval of each where there is one."""

    x: Numbers
    y: Numbers
    low: Numbers | None = None
    high: Numbers | None = None
    dash: str | None = None
    """Plotly's name of a line style; lines of one model share a colour and differ in this."""
    model: int | None = None
    """The place of its model, where that is not its own place among the curves."""


def curves(
    lines: Mapping[str, Curve],
    x_title: str,
    y_title: str,
    *,
    percent: bool = True,
    levels: Mapping[str, float] | None = None,
    x_shares: bool = False,
) -> dict[str, Any]:
    """Lines by name; `levels` are dotted horizontal lines (chance, the clean accuracy).

    With `x_shares` the places are shares, 0 to 1, on a logarithmic axis with a tick at each.
    """
    figure = go.Figure()
    for place, (name, line) in enumerate(lines.items()):
        own = colour(place if line.model is None else line.model)
        figure.add_scatter(
            x=list(line.x),
            y=list(line.y),
            name=name,
            mode="lines+markers",
            line={"color": own, "dash": line.dash},
            error_y=_errors(line.y, line.low, line.high, own),
            hovertemplate=f"%{{x}}: {_form(percent)}",
        )
    for name, level in (levels or {}).items():
        figure.add_hline(y=level, line={"dash": "dot", "width": 1}, annotation={"text": name})
    figure.update_layout(xaxis_title=x_title, yaxis_title=y_title)
    figure.update_yaxes(tickformat=".0%" if percent else None)
    if x_shares:
        ticks = sorted({place for line in lines.values() for place in line.x})
        labels = [f"{100 * tick:.2g} %" for tick in ticks]
        figure.update_xaxes(type="log", tickvals=ticks, ticktext=labels)
    return plain(figure)


@dataclass(frozen=True)
class Bars:
    """Heights of one model's bars, with the interval of each where there is one."""

    y: Numbers
    low: Numbers | None = None
    high: Numbers | None = None


def bars(
    groups: Sequence[str],
    series: Mapping[str, Bars],
    y_title: str,
    *,
    percent: bool = True,
    level: tuple[str, float] | None = None,
) -> dict[str, Any]:
    """A group of bars for each of `groups`, in it a bar for each of `series`."""
    figure = go.Figure()
    for place, (name, one) in enumerate(series.items()):
        figure.add_bar(
            x=list(groups),
            y=list(one.y),
            name=name,
            marker={"color": colour(place)},
            error_y=_errors(one.y, one.low, one.high, None),
            hovertemplate=f"%{{x}}: {_form(percent)}",
        )
    if level is not None:
        name, height = level
        figure.add_hline(y=height, line={"dash": "dot", "width": 1}, annotation={"text": name})
    figure.update_layout(barmode="group", yaxis_title=y_title)
    figure.update_yaxes(tickformat=".0%" if percent else None)
    figure.update_xaxes(type="category")
    return plain(figure)


def plain(figure: go.Figure) -> dict[str, Any]:
    """A figure as plain values, without Plotly's template."""
    figure.update_layout(template=None)
    content: dict[str, Any] = figure.to_plotly_json()
    return {"data": list(content["data"]), "layout": content["layout"]}


def _errors(
    y: Numbers, low: Numbers | None, high: Numbers | None, own: str | None
) -> dict[str, Any] | None:
    if low is None or high is None:
        return None
    shown: dict[str, Any] = {
        "type": "data",
        "symmetric": False,
        "array": [top - at for top, at in zip(high, y, strict=True)],
        "arrayminus": [at - bottom for bottom, at in zip(low, y, strict=True)],
        "thickness": 1,
        "width": 3,
    }
    return shown if own is None else {**shown, "color": own}


def _form(percent: bool) -> str:
    return "%{y:.1%}" if percent else "%{y:.3f}"
