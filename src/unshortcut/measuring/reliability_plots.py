"""Plots of accuracy by confidence and of the distribution of confidence."""

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from unshortcut.intervals import wilson
from unshortcut.measuring.calibration import ConfidenceResult
from unshortcut.measuring.plots import color, error_bars, plain


def reliability_plot(results: Mapping[str, ConfidenceResult]) -> dict[str, Any]:
    """Accuracy by confidence, one line per model, with larger markers for fuller bins."""
    figure = go.Figure()
    figure.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        line={"dash": "dot", "width": 1, "color": "#888"},
        name="perfectly calibrated",
        hoverinfo="skip",
    )
    for name, result in results.items():
        filled = [one for one in result.bins if one.count]
        most = max(one.count for one in filled)
        accuracy = [one.accuracy for one in filled]
        low, high = zip(*(wilson(one.right, one.count) for one in filled), strict=True)
        figure.add_scatter(
            x=[one.confidence for one in filled],
            y=accuracy,
            name=name,
            mode="lines+markers",
            line={"color": color(name), "width": 1},
            marker={"size": [5 + 13 * (one.count / most) ** 0.5 for one in filled]},
            error_y=error_bars(accuracy, low, high, color(name)),
            customdata=[[one.right, one.count] for one in filled],
            hovertemplate="confidence %{x:.1%}: accuracy %{y:.1%}, "
            "%{customdata[0]} of %{customdata[1]}",
        )
    figure.update_layout(xaxis_title="confidence", yaxis_title="accuracy")
    figure.update_xaxes(tickformat=".0%", range=[0, 1.02])
    figure.update_yaxes(tickformat=".0%", range=[-0.02, 1.02])
    return plain(figure)


def confidence_histogram(results: Mapping[str, ConfidenceResult]) -> dict[str, Any]:
    """Shares of a model's decisions by confidence, separately for right and wrong ones."""
    figure = go.Figure()
    for name, result in results.items():
        right = [one.right for one in result.bins]
        wrong = [one.count - one.right for one in result.bins]
        for kind, dash, counts in (("right", "solid", right), ("wrong", "dot", wrong)):
            figure.add_scatter(
                x=[(one.low + one.high) / 2 for one in result.bins],
                y=[count / result.num_images for count in counts],
                name=f"{name}, {kind}",
                mode="lines",
                line={"color": color(name), "dash": dash, "shape": "hvh"},
                customdata=[
                    [one.low, one.high, count]
                    for one, count in zip(result.bins, counts, strict=True)
                ],
                hovertemplate="confidence %{customdata[0]:.0%} to %{customdata[1]:.0%}: "
                f"%{{customdata[2]}} {kind}, %{{y:.1%}} of all",
            )
    figure.update_layout(xaxis_title="confidence", yaxis_title="share of decisions")
    figure.update_xaxes(tickformat=".0%", range=[0, 1])
    figure.update_yaxes(tickformat=".0%", rangemode="tozero")
    return plain(figure)
