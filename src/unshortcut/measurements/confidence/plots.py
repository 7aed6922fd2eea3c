"""Plots of confidence: how often decisions of a confidence are right, and how many there are."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from unshortcut.measurements.confidence.calibration import Bin
from unshortcut.measuring.estimates.statistics import wilson
from unshortcut.measuring.plots import color, plain


def reliability_plot(models: Mapping[str, Sequence[Bin]]) -> dict[str, Any]:
    """Accuracy against confidence, a line a model; a marker is larger where there is more in it."""
    figure = go.Figure()
    figure.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        line={"dash": "dot", "width": 1, "color": "#888"},
        name="as sure as right",
        hoverinfo="skip",
    )
    for name, bins in models.items():
        filled = [one for one in bins if one.count]
        most = max(one.count for one in filled)
        ends = [wilson(one.right, one.count) for one in filled]
        figure.add_scatter(
            x=[one.confidence for one in filled],
            y=[one.accuracy for one in filled],
            name=name,
            mode="lines+markers",
            line={"color": color(name), "width": 1},
            marker={"size": [5 + 13 * (one.count / most) ** 0.5 for one in filled]},
            error_y={
                "type": "data",
                "symmetric": False,
                "array": [high - one.accuracy for one, (_, high) in zip(filled, ends, strict=True)],
                "arrayminus": [
                    one.accuracy - low for one, (low, _) in zip(filled, ends, strict=True)
                ],
                "thickness": 1,
                "width": 3,
                "color": color(name),
            },
            customdata=[[one.right, one.count] for one in filled],
            hovertemplate="confidence %{x:.1%}: right in %{y:.1%}, "
            "%{customdata[0]} of %{customdata[1]}",
        )
    figure.update_layout(xaxis_title="confidence", yaxis_title="accuracy")
    figure.update_xaxes(tickformat=".0%", range=[0, 1.02])
    figure.update_yaxes(tickformat=".0%", range=[-0.02, 1.02])
    return plain(figure)


def confidence_histogram(models: Mapping[str, Sequence[Bin]]) -> dict[str, Any]:
    """Shares of a model's decisions by confidence: right ones solid, wrong ones dotted."""
    figure = go.Figure()
    for name, bins in models.items():
        total = sum(one.count for one in bins)
        for kind, dash in (("right", "solid"), ("wrong", "dot")):
            counts = [one.right if kind == "right" else one.count - one.right for one in bins]
            figure.add_scatter(
                x=[(one.low + one.high) / 2 for one in bins],
                y=[count / total for count in counts],
                name=f"{name}, {kind}",
                mode="lines",
                line={"color": color(name), "dash": dash, "shape": "hvh"},
                customdata=[
                    [one.low, one.high, count] for one, count in zip(bins, counts, strict=True)
                ],
                hovertemplate="confidence %{customdata[0]:.0%} to %{customdata[1]:.0%}: "
                f"%{{customdata[2]}} {kind}, %{{y:.1%}} of all",
            )
    figure.update_layout(xaxis_title="confidence", yaxis_title="share of decisions")
    figure.update_xaxes(tickformat=".0%", range=[0, 1])
    figure.update_yaxes(tickformat=".0%", rangemode="tozero")
    return plain(figure)
