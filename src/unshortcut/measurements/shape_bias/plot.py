"""Shape bias by class of shape, from texture to shape: the figure of Geirhos et al. (2019)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from unshortcut.measuring.plots import color, plain

SYMBOLS = ("circle", "diamond", "square", "triangle-up", "star", "hexagon", "cross", "x")


@dataclass(frozen=True)
class Point:
    """The bias of one model on one class."""

    value: float
    low: float
    high: float
    counts: str
    """What it is made of, shown on hovering."""


def bias_by_class(
    classes: Sequence[str],
    models: Mapping[str, Mapping[str, Point]],
    overall: Mapping[str, float],
    references: Mapping[str, float],
) -> dict[str, Any]:
    """A row a class, the first on top; a point a model, and a vertical line at its overall bias.

    `references` are dotted lines. Where a model has no bias (NaN) there is no point and no line.
    """
    figure = go.Figure()
    for place, (name, points) in enumerate(models.items()):
        shown = [one for one in classes if one in points and not np.isnan(points[one].value)]
        chosen = [points[one] for one in shown]
        figure.add_scatter(
            x=[point.value for point in chosen],
            y=shown,
            name=name,
            mode="markers",
            orientation="h",
            offsetgroup=str(place),
            marker={"color": color(name), "symbol": SYMBOLS[place % len(SYMBOLS)], "size": 9},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [point.high - point.value for point in chosen],
                "arrayminus": [point.value - point.low for point in chosen],
                "thickness": 1,
                "width": 2,
            },
            text=[point.counts for point in chosen],
            hovertemplate="%{y}: %{x:.0%} (%{text})",
        )
        if not np.isnan(overall[name]):
            figure.add_vline(x=overall[name], line={"color": color(name), "width": 2})
    for name, value in references.items():
        above = {"text": name, "y": 1, "yanchor": "bottom", "xanchor": "center"}
        figure.add_vline(x=value, line={"dash": "dot", "width": 1}, annotation=above)
    figure.update_layout(scattermode="group", scattergap=0.4)
    figure.update_xaxes(
        range=[-0.03, 1.03],
        tickformat=".0%",
        title="← texture · shape bias · shape →",
        zeroline=False,
    )
    figure.update_yaxes(
        type="category", categoryorder="array", categoryarray=list(classes), autorange="reversed"
    )
    return plain(figure)
