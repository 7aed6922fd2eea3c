"""Histograms of several models, overlaid, a panel a kind of pair (as in NSN, metrics 3, 12, 13)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from numpy.typing import NDArray

from unshortcut.files import atomic_open

_COLUMNS, _WIDTH, _HEIGHT, _LEGEND_LINE = 2, 5.5, 3.0, 0.2
"""Panels a row; inches of a panel without its legend, and of a line of the legend."""
_LONGEST = 48
"""Letters of a name that fit below a panel."""


class Histogram(Protocol):
    """What a panel needs to know of a model."""

    @property
    def mean(self) -> float: ...

    @property
    def histogram(self) -> tuple[int, ...]: ...


def draw_histograms(
    path: str | Path,
    title: str,
    panels: Mapping[str, Mapping[str, Histogram]],
    edges: NDArray[np.float64],
) -> None:
    """Write a PNG; `panels` holds histograms over `edges` by title of the panel and by model."""
    rows, lines = -(-len(panels) // _COLUMNS), max(len(models) for models in panels.values())
    height = rows * (_HEIGHT + _LEGEND_LINE * lines)
    layout = ConstrainedLayoutEngine(h_pad=0.12, w_pad=0.1)
    figure = Figure(figsize=(_WIDTH * _COLUMNS, height + 0.4), layout=layout)
    figure.suptitle(title)
    for number, (name, models) in enumerate(panels.items(), 1):
        _panel(figure.add_subplot(rows, _COLUMNS, number), name, models, edges)
    with atomic_open(path) as file:
        figure.savefig(file, format="png", dpi=130)


def _panel(
    axes: Axes, title: str, models: Mapping[str, Histogram], edges: NDArray[np.float64]
) -> None:
    colors = matplotlib.color_sequences["tab10" if len(models) <= 10 else "tab20"]
    for number, (name, model) in enumerate(models.items()):
        color = colors[number % len(colors)]
        counts = np.array(model.histogram)
        shares = 100 * counts / counts.sum()
        axes.stairs(shares, edges, fill=True, color=color, alpha=min(0.25, 0.6 / len(models)))
        label = f"{_shortened(name)}: mean {model.mean:z.3f}"
        axes.stairs(shares, edges, color=color, linewidth=1.2, label=label)
        axes.axvline(model.mean, color=color, linewidth=1, linestyle=":")
    axes.set_title(title, fontsize=11)
    axes.set_xlim(-1, 1)
    axes.set_xlabel("cosine similarity")
    axes.set_ylabel("pairs, %")
    axes.spines[["top", "right"]].set_visible(False)
    # Below the panel, where it hides nothing however many models there are.
    axes.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.24), frameon=False, fontsize=9, borderpad=0
    )


def _shortened(name: str) -> str:
    """The end of a long name, which tells runs in one folder apart."""
    return name if len(name) <= _LONGEST else f"…{name[1 - _LONGEST :]}"
