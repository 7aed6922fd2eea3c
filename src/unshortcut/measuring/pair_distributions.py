"""Distributions of the cosines of each kind of pair, and their histograms."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from unshortcut.measuring.pairs import KINDS
from unshortcut.measuring.plots import color, plain

EDGES = np.linspace(-1, 1, 51)
"""Edges of the bins of the histograms."""
PAIR_TITLES = {
    "positive": "another view of the image",
    "negative": "another image",
    "texture": "the image's texture",
    "patch": "the image's patches, shuffled",
}
"""The image that a view is compared with, for each kind of pair."""


@dataclass(frozen=True)
class Distribution:
    """The distribution of the cosines of one kind of pair."""

    mean: float
    std: float
    n: int
    histogram: tuple[int, ...]  # number of pairs in each bin of `EDGES`

    @classmethod
    def of(cls, cosines: NDArray[np.float64]) -> "Distribution":
        """The distribution of cosines (n,)."""
        counts, _ = np.histogram(cosines, EDGES)
        mean, std = float(cosines.mean()), float(cosines.std())
        return cls(mean, std, len(cosines), tuple(counts.tolist()))


def cosine_histograms(models: Mapping[str, Mapping[str, Distribution]]) -> dict[str, Any]:
    """A Plotly figure with the models' histograms, one panel per kind of pair that all have."""
    kinds = [kind for kind in KINDS if all(kind in own for own in models.values())]
    figure = make_subplots(
        rows=len(kinds),
        cols=1,
        shared_xaxes=True,
        subplot_titles=[PAIR_TITLES[kind] for kind in kinds],
        vertical_spacing=0.07,
    )
    centers = ((EDGES[1:] + EDGES[:-1]) / 2).tolist()
    for row, kind in enumerate(kinds, start=1):
        for name, own in models.items():
            counts = np.array(own[kind].histogram)
            figure.add_scatter(
                x=centers,
                y=(counts / counts.sum()).tolist(),
                name=name,
                legendgroup=name,
                showlegend=row == 1,
                mode="lines",
                line={"color": color(name), "shape": "hvh"},
                fill="tozeroy",
                hovertemplate="%{x:.2f}: %{y:.1%}",
                row=row,
                col=1,
            )
    figure.update_xaxes(range=[-1, 1])
    figure.update_xaxes(title_text="cosine", row=len(kinds), col=1)
    figure.update_yaxes(tickformat=".0%", nticks=4)
    return plain(figure)
