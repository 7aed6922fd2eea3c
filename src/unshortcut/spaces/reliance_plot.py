"""Plot which spaces a classifier relies on: bars by class and example images (LooC, figure 4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import NDArray

from unshortcut.files import atomic_open

if TYPE_CHECKING:
    from unshortcut.spaces.reliance import Reliance

_MAX_CLASSES = 24
"""Of more classes, the 12 with the lowest and the 12 with the highest entropy are shown."""
_WIDTH, _BAR, _HEAD, _EXAMPLES = 9.0, 0.27, 1.2, 3.0
"""Inches: width of the figure; heights of a bar, the rest of a panel, and a row of examples."""
_MAX_LETTERS = 24
"""Length of a class name that fits beside a bar or above an example."""
_EXAMPLES_PER_ROW = 5


def plot_reliance(path: str | Path, title: str, tests: Mapping[str, "Reliance"]) -> None:
    """Write a PNG with bars for all images and each class, and examples, for each test set."""
    panels = [RelianceBars.of(test) for test in tests.values()]
    heights: list[float] = []
    for bars, test in zip(panels, tests.values(), strict=True):
        rows = -(-len(test.examples) // _EXAMPLES_PER_ROW)
        heights += [len(bars.names) * _BAR + _HEAD, rows * _EXAMPLES]
    figure = Figure(figsize=(_WIDTH, sum(heights) + 0.5), layout="constrained")
    figure.suptitle(title)
    parts = figure.subfigures(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    for number, (name, test) in enumerate(tests.items()):
        _draw_bars(parts[2 * number].subplots(), name, test, panels[number])
        _draw_examples(parts[2 * number + 1], test)
    with atomic_open(path) as file:
        figure.savefig(file, format="png", dpi=120)


@dataclass(frozen=True)
class RelianceBars:
    """The bars of a panel."""

    names: list[str]
    shares: NDArray[np.float64]
    """(rows, S)"""
    entropies: NDArray[np.float64]
    """(rows,), in bits"""
    note: str
    """Which classes are shown, if not all are."""

    @classmethod
    def of(cls, test: "Reliance") -> "RelianceBars":
        per_class = test.per_class
        entropies = test.class_entropies
        shown = np.flatnonzero(~np.isnan(entropies))
        note = ""
        if len(shown) > _MAX_CLASSES:
            ranked = shown[np.argsort(entropies[shown], kind="stable")]
            half = _MAX_CLASSES // 2
            note = (
                f"{_MAX_CLASSES} of {len(shown)} classes: "
                f"the {half} with the lowest entropy, then the {half} with the highest"
            )
            shown = np.concatenate([ranked[:half], ranked[-half:]])
        names = ["all images", *(_shortened(test.classes[label]) for label in shown.tolist())]
        shares = np.concatenate([test.overall[None], per_class[shown]])
        return cls(names, shares, np.concatenate([[test.entropy], entropies[shown]]), note)


def _draw_bars(axes: Axes, name: str, test: "Reliance", bars: RelianceBars) -> None:
    rows = np.arange(len(bars.names), dtype=np.float64)
    rows[1:] += 0.5  # a gap between all images and the classes,
    if bars.note:
        rows[1 + _MAX_CLASSES // 2 :] += 0.5  # and between low and high entropies
    start = np.zeros(len(rows))
    for number, space in enumerate(test.spaces):
        shares = 100 * bars.shares[:, number]
        axes.barh(rows, shares, left=start, height=0.8, color=_color(number), label=space)
        for row, left, share in zip(rows, start, shares, strict=True):
            if share >= 8:  # otherwise the number does not fit
                axes.text(
                    left + share / 2, row, f"{share:.0f}",
                    ha="center", va="center", color="white", fontsize=8,
                )  # fmt: skip
        start = start + shares
    for row, entropy in zip(rows, bars.entropies, strict=True):
        axes.text(101, row, f"{entropy:.2f} bits", va="center", fontsize=8)
    max_entropy = np.log2(len(test.spaces))
    title = (
        f"{name}: {test.entropy:.2f} of {max_entropy:.2f} bits; "
        f"mean over single images {test.image_entropies.mean():.2f} bits"
    )
    axes.set_title(f"{title}\n{bars.note}" if bars.note else title, fontsize=10)
    axes.set_yticks(rows, bars.names, fontsize=9)
    axes.set_ylim(rows[-1] + 0.6, -0.6)
    axes.set_xlim(0, 100)
    axes.set_xlabel("share of the positive activation × weight in correct predictions, %")
    axes.spines[["top", "right"]].set_visible(False)


def _draw_examples(part: Any, test: "Reliance") -> None:
    """Draw the image that relies most on each space above its shares, and the legend."""
    part.suptitle("The image that relies most on each space", fontsize=10)
    rows = -(-len(test.examples) // _EXAMPLES_PER_ROW)
    columns = min(len(test.examples), _EXAMPLES_PER_ROW)
    grid = part.subplots(2 * rows, columns, squeeze=False, height_ratios=[3, 2] * rows)
    for axes in grid.flat:
        axes.axis("off")
    for number, example in enumerate(test.examples):
        row, column = divmod(number, _EXAMPLES_PER_ROW)
        picture, shares = grid[2 * row, column], grid[2 * row + 1, column]
        picture.imshow(example.pixels)
        picture.set_title(f"{example.space}\n({_shortened(example.label)})", fontsize=8)
        spaces = range(len(test.spaces))
        shares.axis("on")
        shares.bar(spaces, 100 * np.array(example.shares), color=[_color(n) for n in spaces])
        shares.set_ylim(0, 100)
        shares.set_xticks([])
        shares.tick_params(labelsize=7)
        shares.spines[["top", "right"]].set_visible(False)
    keys = [Patch(color=_color(n), label=space) for n, space in enumerate(test.spaces)]
    part.legend(
        handles=keys, loc="outside lower center", ncols=min(len(keys), 6), frameon=False, fontsize=9
    )


def _color(number: int) -> Any:
    colors = matplotlib.color_sequences["tab10"]
    return colors[number % len(colors)]


def _shortened(name: str) -> str:
    return name if len(name) <= _MAX_LETTERS else f"{name[: _MAX_LETTERS - 1]}…"
