"""Plot the accuracies of representations with their intervals, and which one to use."""

from pathlib import Path

from matplotlib.figure import Figure

from unshortcut.files import atomic_open
from unshortcut.spaces.choice import Choice

_WIDTH, _LINE, _REST = 8.0, 0.32, 1.5
"""Inches: width of the figure, height of a line, height of the title and the axis."""
_CHOSEN, _OTHER = "tab:blue", "0.45"


def plot_choice(path: str | Path, choice: Choice, majority: float) -> None:
    """Write a PNG with one line per candidate, starting with the run's own representation."""
    candidates = choice.candidates
    figure = Figure(figsize=(_WIDTH, _LINE * len(candidates) + _REST), layout="constrained")
    axes = figure.add_subplot()
    axes.set_yticks(range(len(candidates)), [one.name for one in candidates])
    for line, one in enumerate(candidates):
        low, high = one.interval
        color, note = _OTHER, str(one.outcome) if one is not choice.own else "the run's own"
        if one is choice.chosen:
            color, note = _CHOSEN, f"use: {note}"
            axes.get_yticklabels()[line].set_fontweight("bold")
        reach = [[one.accuracy - low], [high - one.accuracy]]
        axes.errorbar(one.accuracy, line, xerr=reach, fmt="o", color=color, capsize=3)
        right = axes.get_yaxis_transform()
        axes.text(1.01, line, note, transform=right, va="center", fontsize=9, color=color)
    axes.axvline(choice.own.accuracy, color=_OTHER, linewidth=0.8, linestyle="--")
    axes.axvline(majority, color=_OTHER, linewidth=0.8, linestyle=":")
    above = axes.get_xaxis_transform()
    axes.text(majority, 1.0, "majority class", transform=above, fontsize=8, ha="center")
    axes.invert_yaxis()
    axes.set_xlabel("accuracy in cross-validation, %, with 95 % intervals")
    axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle("Which spaces to use")
    with atomic_open(path) as file:
        figure.savefig(file, format="png", dpi=130)
