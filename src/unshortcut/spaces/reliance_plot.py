"""Which space a classifier relies on, as bars by class and as example images (LooC, figure 4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import NDArray

from unshortcut.files import atomic_open

_MOST_CLASSES = 24
"""That are drawn; of more, half of them are the most one-sided, half the most even."""
_WIDTH, _BAR, _HEAD, _EXAMPLES = 9.0, 0.27, 1.2, 3.0
"""Inches: of the figure, a bar, the titles and axis of a panel, a row of example images."""
_LONGEST = 24
"""Letters of a class's name that fit beside a bar or above an example."""
_EXAMPLES_A_ROW = 5

Floats = NDArray[np.float64]


class Shown(Protocol):
    """An example image with its shares."""

    @property
    def space(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def shares(self) -> Sequence[float]: ...
    @property
    def pixels(self) -> NDArray[np.uint8]: ...


class Shares(Protocol):
    """What a panel needs to know of a test set."""

    @property
    def spaces(self) -> Sequence[str]: ...
    @property
    def classes(self) -> Sequence[str]: ...
    @property
    def overall(self) -> Floats: ...
    @property
    def per_class(self) -> Floats: ...
    @property
    def entropy(self) -> float: ...
    @property
    def class_entropies(self) -> Floats: ...
    @property
    def image_entropies(self) -> Floats: ...
    @property
    def examples(self) -> Sequence[Shown]: ...


def draw_reliance(path: str | Path, title: str, tests: Mapping[str, Shares]) -> None:
    """Write a PNG: for each test set a bar overall and for each class, then the examples."""
    panels = [Bars.of(test) for test in tests.values()]
    heights: list[float] = []
    for bars, test in zip(panels, tests.values(), strict=True):
        rows = -(-len(test.examples) // _EXAMPLES_A_ROW)
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
class Bars:
    """The rows of a panel."""

    names: list[str]
    shares: Floats
    """(rows, S)"""
    entropies: Floats
    """(rows,), in bits."""
    note: str
    """Which classes are shown, where not all are."""

    @classmethod
    def of(cls, test: Shares) -> "Bars":
        per_class = test.per_class
        entropies = test.class_entropies
        seen = np.flatnonzero(~np.isnan(entropies))
        note = ""
        if len(seen) > _MOST_CLASSES:
            ranked = seen[np.argsort(entropies[seen], kind="stable")]
            half = _MOST_CLASSES // 2
            note = (
                f"{_MOST_CLASSES} of {len(seen)} classes: "
                f"the {half} most one-sided, then the {half} most even"
            )
            seen = np.concatenate([ranked[:half], ranked[-half:]])
        names = ["all images", *(_shortened(test.classes[label]) for label in seen.tolist())]
        shares = np.concatenate([test.overall[None], per_class[seen]])
        return cls(names, shares, np.concatenate([[test.entropy], entropies[seen]]), note)


def _draw_bars(axes: Axes, name: str, test: Shares, bars: Bars) -> None:
    places = np.arange(len(bars.names), dtype=np.float64)
    places[1:] += 0.5  # all images stand apart from the classes,
    if bars.note:
        places[1 + _MOST_CLASSES // 2 :] += 0.5  # and the even classes from the one-sided
    start = np.zeros(len(places))
    for number, space in enumerate(test.spaces):
        shares = 100 * bars.shares[:, number]
        axes.barh(places, shares, left=start, height=0.8, color=_color(number), label=space)
        for place, left, share in zip(places, start, shares, strict=True):
            if share >= 8:  # a number needs that much room
                axes.text(
                    left + share / 2, place, f"{share:.0f}",
                    ha="center", va="center", color="white", fontsize=8,
                )  # fmt: skip
        start = start + shares
    for place, entropy in zip(places, bars.entropies, strict=True):
        axes.text(101, place, f"{entropy:.2f} bits", va="center", fontsize=8)
    most = np.log2(len(test.spaces))
    said = (
        f"{name}: {test.entropy:.2f} of {most:.2f} bits; "
        f"of single images {test.image_entropies.mean():.2f} bits on average"
    )
    axes.set_title(f"{said}\n{bars.note}" if bars.note else said, fontsize=10)
    axes.set_yticks(places, bars.names, fontsize=9)
    axes.set_ylim(places[-1] + 0.6, -0.6)
    axes.set_xlim(0, 100)
    axes.set_xlabel("share of the positive activation × weight of correct predictions, %")
    axes.spines[["top", "right"]].set_visible(False)


def _draw_examples(part: Any, test: Shares) -> None:
    """For each space the image that leans most on it, over its shares; and the spaces' colors."""
    part.suptitle("The images that lean most on each space", fontsize=10)
    rows = -(-len(test.examples) // _EXAMPLES_A_ROW)
    in_a_row = min(len(test.examples), _EXAMPLES_A_ROW)
    grid = part.subplots(2 * rows, in_a_row, squeeze=False, height_ratios=[3, 2] * rows)
    for axes in grid.flat:
        axes.axis("off")
    for number, example in enumerate(test.examples):
        row, column = divmod(number, _EXAMPLES_A_ROW)
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
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
