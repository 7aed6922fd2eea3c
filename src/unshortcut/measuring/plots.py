"""Plots of the audit in Plotly's form: curves, bars and histograms, a color a model.

Colors are left to the page: those of text, axes and background, because it has a light and a dark
side, and those of models, because only it knows all of them, and a model keeps its color though
others fail in a measurement.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from unshortcut.measuring.estimates.estimate import Estimate

PALETTE = ("#3b82c4", "#d9742b", "#2a9d78", "#b5588f", "#8a78d6", "#b39425", "#5aa9c9", "#a65a4a")
"""A color a model, in the order of the models; they can be told apart by the color-blind."""

Numbers = Sequence[float]


def color(model: str) -> str:
    """What stands for the color of a model in a figure, until the page says which that is.

    It is a color too, for whoever looks at a figure alone.
    """
    return f"#{hashlib.sha256(model.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}"


def model_colors(models: Iterable[str]) -> dict[str, str]:
    """The colors of all models, by what stands for them in figures."""
    return {color(name): PALETTE[at % len(PALETTE)] for at, name in enumerate(models)}


@dataclass(frozen=True)
class Curve:
    """Points of one line, with the interval of each where there is one."""

    x: Numbers
    y: Numbers
    low: Numbers | None = None
    high: Numbers | None = None
    dash: str | None = None
    """Plotly's name of a line style; lines of one model share a color and differ in this."""
    model: str | None = None
    """Whose it is, where its own name is another."""

    @classmethod
    def of(
        cls,
        x: Numbers,
        points: Sequence[Estimate],
        *,
        dash: str | None = None,
        model: str | None = None,
    ) -> "Curve":
        """Through estimates, with the interval of each."""
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
    """Lines by name; `levels` are dotted horizontal lines (chance, the clean accuracy).

    With `x_shares` the places are shares, 0 to 1, on a logarithmic axis with a tick at each.
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
            error_y=_errors(line.y, line.low, line.high, own),
            hovertemplate=f"%{{x}}: {_form(percent)}",
        )
    for name, level in (levels or {}).items():
        figure.add_hline(y=level, line={"dash": "dot", "width": 1}, annotation={"text": name})
    figure.update_layout(xaxis_title=x_title, yaxis_title=y_title)
    figure.update_yaxes(tickformat=".0%" if percent else None)
    if x_shares:
        ticks = sorted({place for line in lines.values() for place in line.x})
        labels = [f"{100 * tick:.3g} %" for tick in ticks]
        figure.update_xaxes(type="log", tickvals=ticks, ticktext=labels)
    return plain(figure)


@dataclass(frozen=True)
class Bars:
    """Heights of one model's bars, with the interval of each where there is one."""

    y: Numbers
    low: Numbers | None = None
    high: Numbers | None = None

    @classmethod
    def of(cls, heights: Sequence[Estimate]) -> "Bars":
        """As high as estimates, with the interval of each."""
        return cls(*_ends(heights))


def bars(
    groups: Sequence[str],
    series: Mapping[str, Bars],
    y_title: str,
    *,
    percent: bool = True,
    level: tuple[str, float] | None = None,
) -> dict[str, Any]:
    """A group of bars for each of `groups`, in it a bar for each model, by whom `series` are."""
    figure = go.Figure()
    for name, one in series.items():
        figure.add_bar(
            x=list(groups),
            y=list(one.y),
            name=name,
            marker={"color": color(name)},
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


def _ends(found: Sequence[Estimate]) -> tuple[list[float], list[float], list[float]]:
    """Values, lower and upper ends of intervals."""
    return [one.value for one in found], [one.low for one in found], [one.high for one in found]


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
