"""The plot of a reproduction: for each measure one panel with our results and one of the paper."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from unshortcut.files import atomic_open
from unshortcut.reproduction.claim import Claim, MeasureColumn, Variant
from unshortcut.reproduction.outcome import Reproduction

_ACROSS = 4
"""Panels per row."""
_TICK_LETTERS = 30
"""Characters of tick labels that fit under a panel."""


@dataclass(frozen=True)
class _Point:
    x: str
    mean: float
    std: float


def draw_plot(outcome: Reproduction, path: Path) -> None:
    """Write a PNG with our means and standard deviations over seeds, and the paper's numbers."""
    x = outcome.claim.x
    panels: list[tuple[str, dict[str, list[_Point]], bool]] = []
    for column in outcome.columns:
        panels.append((column.title, _ours(outcome, column), True))
        if theirs := _theirs(outcome.claim, column):
            panels.append((f"the paper's {column.paper}", theirs, False))
    rows = math.ceil(len(panels) / _ACROSS)
    width = min(len(panels), _ACROSS)
    figure, axes = plt.subplots(
        rows, width, figsize=(3.2 * width, 2.8 * rows), layout="constrained", squeeze=False
    )
    for axis in axes.flat[len(panels) :]:
        axis.remove()
    for axis, (title, lines, ours) in zip(axes.flat, panels, strict=False):
        _draw(axis, title, lines, x, ours)
    with atomic_open(path) as file:
        figure.savefig(file, dpi=120, format="png")
    plt.close(figure)


def _ours(outcome: Reproduction, column: MeasureColumn) -> dict[str, list[_Point]]:
    lines: dict[str, list[_Point]] = {}
    for variant in outcome.variants:
        values = outcome.values(variant, column)
        std = statistics.stdev(values) if len(values) > 1 else 0.0
        point = _Point(variant.values[outcome.claim.x], statistics.fmean(values), std)
        lines.setdefault(_line(outcome.claim, variant), []).append(point)
    return lines


def _theirs(claim: Claim, column: MeasureColumn) -> dict[str, list[_Point]]:
    lines: dict[str, list[_Point]] = {}
    for variant in claim.variants("paper"):
        printed = claim.paper(variant.values).get(column.measure)
        if printed is not None:
            point = _Point(variant.values[claim.x], printed, 0.0)
            lines.setdefault(_line(claim, variant), []).append(point)
    return lines


def _line(claim: Claim, variant: Variant) -> str:
    """The values of the other axes, which label a line."""
    return " ".join(f"{axis}={value}" for axis, value in variant.values.items() if axis != claim.x)


def _draw(axis: Any, title: str, lines: dict[str, list[_Point]], x: str, ours: bool) -> None:
    names = [point.x for points in lines.values() for point in points]
    positions = _positions(names)
    # Between values that are no numbers there is nothing that a line could stand for.
    joined = ("-" if ours else "--") if _numbers(names) is not None else "none"
    for label, points in lines.items():
        points = sorted(points, key=lambda point: positions[point.x])
        axis.errorbar(
            [positions[point.x] for point in points],
            [point.mean for point in points],
            [point.std for point in points] if ours else None,
            marker="o",
            markersize=4,
            linestyle=joined,
            capsize=3,
            label=label or None,
        )
    slanted = {"rotation": 30, "ha": "right"} if len("".join(positions)) > _TICK_LETTERS else {}
    axis.set_xticks(list(positions.values()), list(positions), fontsize=8, **slanted)
    axis.set_xlabel(x)
    axis.set_title(title, fontsize=9)
    axis.spines[["top", "right"]].set_visible(False)
    axis.margins(x=0.1)
    if any(lines):
        axis.legend(frameon=False, fontsize=8)


def _positions(names: Sequence[str]) -> dict[str, float]:
    """Positions on the axis: numbers as they are, or log2 for a wide range; other values evenly."""
    numbers = _numbers(names)
    if numbers is None:
        return {name: float(index) for index, name in enumerate(dict.fromkeys(names))}
    if min(numbers.values()) > 0 and max(numbers.values()) / min(numbers.values()) >= 4:
        return {name: math.log2(number) for name, number in numbers.items()}
    return numbers


def _numbers(names: Sequence[str]) -> dict[str, float] | None:
    """The numbers that distinct values stand for; None if one of them is no number."""
    try:
        return {name: float(name) for name in names}
    except ValueError:
        return None
