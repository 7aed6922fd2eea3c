"""Plots of shape biases: by class, and beside values that are known."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from unshortcut.measuring.cue_decisions import ShapeBiasResult
from unshortcut.measuring.plots import color, error_bars, plain

SYMBOLS = ("circle", "diamond", "square", "triangle-up", "star", "hexagon", "cross", "x")

Results = Mapping[str, ShapeBiasResult]


def bias_by_class(classes: Sequence[str], results: Results) -> dict[str, Any]:
    """One row per class, from texture to shape, as in the figure of Geirhos et al. (2019).

    Each model has one point per class, and a vertical line at its overall bias; where a bias is
    NaN there is none.
    """
    figure = go.Figure()
    for index, (name, result) in enumerate(results.items()):
        known = {one.name: one for one in result.classes if not np.isnan(one.bias.value)}
        shown = [known[one] for one in classes if one in known]
        biases = [one.bias.value for one in shown]
        figure.add_scatter(
            x=biases,
            y=[one.name for one in shown],
            name=name,
            mode="markers",
            orientation="h",
            offsetgroup=str(index),
            marker={"color": color(name), "symbol": SYMBOLS[index % len(SYMBOLS)], "size": 9},
            error_x=error_bars(
                biases, [one.bias.low for one in shown], [one.bias.high for one in shown]
            ),
            text=[
                f"{one.shape} for shape, {one.texture} for texture, of {one.conflicts}"
                for one in shown
            ],
            hovertemplate="%{y}: %{x:.0%} (%{text})",
        )
        if not np.isnan(result.bias.value):
            figure.add_vline(x=result.bias.value, line={"color": color(name), "width": 2})
    figure.update_layout(scattermode="group", scattergap=0.4)
    return _from_texture_to_shape(figure, classes)


def biases_beside(known: Mapping[str, float], results: Results) -> dict[str, Any]:
    """One row per model and per known value, in the order of their biases."""
    measured = {name: one.bias for name, one in results.items() if not np.isnan(one.bias.value)}
    values = {**known, **{name: one.value for name, one in measured.items()}}
    figure = go.Figure()
    figure.add_scatter(
        x=list(known.values()),
        y=list(known),
        name="known",
        mode="markers",
        marker={"color": "#888888", "symbol": "line-ns-open", "size": 13},
        hovertemplate="%{y}: %{x:.1%}<extra></extra>",
    )
    for index, (name, one) in enumerate(measured.items()):
        figure.add_scatter(
            x=[one.value],
            y=[name],
            name=f"{name}, shape bias",  # so that the label of its row may be shorter
            mode="markers",
            marker={"color": color(name), "symbol": SYMBOLS[index % len(SYMBOLS)], "size": 10},
            error_x=error_bars([one.value], [one.low], [one.high], color(name)),
            hovertemplate="%{y}: %{x:.1%}<extra></extra>",
        )
    figure.update_layout(showlegend=False)
    return _from_texture_to_shape(figure, sorted(values, key=lambda name: values[name]))


def _from_texture_to_shape(figure: go.Figure, rows: Sequence[str]) -> dict[str, Any]:
    figure.update_xaxes(
        range=[-0.03, 1.03],
        tickformat=".0%",
        title="← texture · shape bias · shape →",
        zeroline=False,
    )
    figure.update_yaxes(
        type="category", categoryorder="array", categoryarray=list(rows), autorange="reversed"
    )
    return plain(figure)
