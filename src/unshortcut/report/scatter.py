"""A scatter plot of two metrics over models, with intervals and labels that do not collide."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from unshortcut.measurements.measurement import Metric
from unshortcut.measuring.plots import PALETTE, error_bars, plain
from unshortcut.report.formats import interval_of, shortened, value_of

HEIGHT = 520
"""Of the plot on the page, in pixels."""
_WIDTH, _INNER_HEIGHT = 880, 430
"""Pixels between the axes for which labels are placed; the page shows none on narrow screens."""
_LETTER, _LINE, _GAP = 7.0, 17.0, 6.0
"""Pixels: mean width of a letter, height of a label, and its distance from its point."""
_PALE = f"rgba({', '.join(str(int(PALETTE[0][at : at + 2], 16)) for at in (1, 3, 5))}, 0.4)"
"""The color of points, half transparent, for their intervals."""
_LABEL = 28
"""Maximum number of characters of a label."""
_PADDING = 0.08
"""Space around the points, relative to their range."""
_POSITIONS = (
    ("top center", 0, 1), ("bottom center", 0, -1), ("middle right", 1, 0), ("middle left", -1, 0),
    ("top right", 1, 1), ("top left", -1, 1), ("bottom right", 1, -1), ("bottom left", -1, -1),
)  # fmt: skip
"""Plotly's name of a position, and its direction from the point, in the order of preference."""
Box = tuple[float, float, float, float]
"""Left, bottom, right and top."""


@dataclass(frozen=True)
class ScatterPoint:
    """A model with its two metrics."""

    model: str
    audit: str
    """Name of the file that it comes from."""
    x: Metric
    y: Metric


def scatter(points: Sequence[ScatterPoint], *, line: bool) -> dict[str, Any]:
    """A Plotly figure of points with intervals; `line` adds the least-squares line.

    Hovering over a point shows its model, file and both values, so labels for which there is no
    room are left out.
    """
    xs, ys = [point.x for point in points], [point.y for point in points]
    x_range, y_range = _range(xs), _range(ys)
    names = [shortened(point.model, _LABEL) for point in points]
    at = np.stack([_fractions(xs, x_range) * _WIDTH, _fractions(ys, y_range) * _INNER_HEIGHT], 1)
    positions = place_labels(at, names)
    figure = go.Figure()
    if line:
        slope, intercept = np.polyfit([one.value for one in xs], [one.value for one in ys], 1)
        ends = [min(one.value for one in xs), max(one.value for one in xs)]
        figure.add_scatter(
            x=ends,
            y=[slope * end + intercept for end in ends],
            mode="lines",
            line={"dash": "dot", "width": 1, "color": "#8b8f94"},
            hoverinfo="skip",
        )
    figure.add_scatter(
        x=[one.value for one in xs],
        y=[one.value for one in ys],
        mode="markers+text",
        text=[name if position else "" for name, position in zip(names, positions, strict=True)],
        textposition=[position or "top center" for position in positions],
        cliponaxis=False,
        marker={"size": 9, "color": PALETTE[0]},
        error_x=_intervals(xs),
        error_y=_intervals(ys),
        hovertext=[hover_text(point) for point in points],
        hovertemplate="%{hovertext}<extra></extra>",
    )
    for axis, metrics, ends in (("x", xs, x_range), ("y", ys, y_range)):
        figure.update_layout(
            {
                f"{axis}axis": {
                    "title": {"text": metrics[0].label},
                    "tickformat": ".2~%" if metrics[0].percent else None,
                    "range": ends,
                    "showgrid": True,
                    "zeroline": False,
                }
            }
        )
    figure.update_layout(showlegend=False)
    return plain(figure)


def hover_text(point: ScatterPoint) -> str:
    """What hovering over a point shows, one line per value."""
    lines = [point.model]
    for metric in (point.x, point.y):
        interval = f" ({interval_of(metric)})" if interval_of(metric) else ""
        lines.append(f"{metric.label}: {value_of(metric)}{interval}")
    return "\n".join([*lines, point.audit])


def place_labels(points: NDArray[np.float64], names: Sequence[str]) -> list[str]:
    """Plotly's position of the label of each point (n, 2) in pixels; empty where no room is left.

    Points are labeled from the outside in, since those in the middle of a crowd have the least room
    anyway; each takes the first position where its label covers no point and no other label.
    """
    taken: list[Box] = [(x - 6, y - 6, x + 6, y + 6) for x, y in points.tolist()]
    positions = [""] * len(names)
    center = points.mean(axis=0)
    for index in np.argsort(-np.linalg.norm(points - center, axis=1)).tolist():
        for position, right, up in _POSITIONS:
            box = _box(points[index].tolist(), names[index], right, up)
            others = [one for at, one in enumerate(taken) if at != index]
            inside = box[0] >= -20 and box[2] <= _WIDTH + 20
            if inside and not any(_overlap(box, one) for one in others):
                positions[index] = position
                taken.append(box)
                break
    return positions


def _box(point: Sequence[float], name: str, right: int, up: int) -> Box:
    """The box of a label in a direction from its point."""
    width = _LETTER * len(name)
    x = point[0] + right * (_GAP + width / 2)
    y = point[1] + up * (_GAP + _LINE / 2)
    return x - width / 2, y - _LINE / 2, x + width / 2, y + _LINE / 2


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _ends(metric: Metric) -> tuple[float, float]:
    """The interval of a metric, or its value twice."""
    low = metric.value if metric.low is None else metric.low
    return low, metric.value if metric.high is None else metric.high


def _range(metrics: Sequence[Metric]) -> list[float]:
    """The ends of an axis: all intervals, and some space around them."""
    low, high = (min(_ends(one)[0] for one in metrics), max(_ends(one)[1] for one in metrics))
    space = _PADDING * ((high - low) or abs(high) or 1.0)
    return [low - space, high + space]


def _fractions(metrics: Sequence[Metric], ends: Sequence[float]) -> NDArray[np.float64]:
    """Positions of values on an axis, from 0 to 1."""
    return (np.array([one.value for one in metrics]) - ends[0]) / (ends[1] - ends[0])


def _intervals(metrics: Sequence[Metric]) -> dict[str, Any] | None:
    if all(one.low is None or one.high is None for one in metrics):
        return None
    low, high = zip(*(_ends(one) for one in metrics), strict=True)
    return error_bars([one.value for one in metrics], low, high, _PALE)
