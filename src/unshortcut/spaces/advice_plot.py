"""Accuracies of representations with their intervals, and which one to use, as a picture."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from matplotlib.figure import Figure

from unshortcut.files import atomic_open

_WIDTH, _LINE, _REST = 8.0, 0.32, 1.5
"""Inches: of the figure, a candidate, and the title and axis."""
_USED, _OTHER = "tab:blue", "0.45"


class Accuracy(Protocol):
    """What a line needs to know of a candidate, in percent."""

    @property
    def name(self) -> str: ...
    @property
    def accuracy(self) -> float: ...
    @property
    def interval(self) -> tuple[float, float]: ...
    @property
    def verdict(self) -> str: ...


def draw_accuracies(
    path: str | Path, candidates: Sequence[Accuracy], used: Accuracy, guessing: float
) -> None:
    """Write a PNG: a line for each candidate, the first being the run's own representation."""
    figure = Figure(figsize=(_WIDTH, _LINE * len(candidates) + _REST), layout="constrained")
    axes = figure.add_subplot()
    for place, one in enumerate(candidates):
        low, high = one.interval
        color = _USED if one is used else _OTHER
        axes.errorbar(
            one.accuracy,
            place,
            xerr=[[one.accuracy - low], [high - one.accuracy]],
            fmt="o",
            color=color,
            capsize=3,
        )
        note = "the run's own" if place == 0 else one.verdict
        axes.annotate(
            f"use: {note}" if one is used else note,
            (1.01, place),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=9,
            color=color,
        )
    axes.axvline(candidates[0].accuracy, color=_OTHER, linewidth=0.8, linestyle="--")
    axes.axvline(guessing, color=_OTHER, linewidth=0.8, linestyle=":")
    axes.annotate(
        "guessing", (guessing, 1.0), xycoords=("data", "axes fraction"), fontsize=8, ha="center"
    )
    axes.set_yticks(range(len(candidates)), [one.name for one in candidates])
    axes.get_yticklabels()[[one is used for one in candidates].index(True)].set_fontweight("bold")
    axes.invert_yaxis()
    axes.set_xlabel("accuracy by cross-validation, %, with 95 % intervals")
    axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle("Which spaces to use")
    with atomic_open(path) as file:
        figure.savefig(file, format="png", dpi=130)
