"""An interactive map of features: one point per image, thumbnails, and nearest neighbors."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jinja2.utils import htmlsafe_json_dumps
from numpy.typing import NDArray

from unshortcut.files import write_text
from unshortcut.measuring.plots import PALETTE
from unshortcut.measuring.projection import COMPONENTS, PERPLEXITY
from unshortcut.report.shell import notebook_frame, render_page
from unshortcut.report.thumbnails import PER_ROW, Thumbnails
from unshortcut.result import public_name

DEFINITION = (
    "Every point is an image, at the place that t-SNE gives to its features: they are scaled to "
    f"unit length, reduced to at most {COMPONENTS} principal components, and placed so that "
    f"images with similar features are near each other (perplexity {PERPLEXITY:g}, or less for "
    "few images). Only what is near means something: sizes of groups and distances between them "
    "do not. The nearest neighbors are those in the features themselves, by cosine similarity, "
    "among the images of the map; where they lie far apart on the map, the map is wrong about "
    "them. Thumbnails show the part of an image that the model sees."
)
_STEPS = 9999
"""Positions are stored as integers from 0 to this, which is finer than a screen."""


@dataclass(frozen=True)
class EmbeddingMap:
    """A map of N images: as a page, in a notebook, or as values."""

    model: str
    data: str
    identities: tuple[str, ...]
    classes: tuple[str, ...]
    """Empty if there are no labels."""
    labels: tuple[tuple[int, ...], ...]
    """Classes of each image: one, several or none."""
    positions: NDArray[np.float32]  # (N, 2), from 0 to 1
    neighbors: NDArray[np.int64]  # (N, K), the nearest first
    cosines: NDArray[np.float64]  # (N, K)
    thumbnails: Thumbnails
    total: int
    """Number of images whose features were computed; N of them are on the map."""
    seed: int

    @property
    def chosen(self) -> str | None:
        """How the images were chosen, in a sentence; None if the map shows all of them."""
        count = len(self.identities)
        if count == self.total:
            return None
        how = "at random, in proportion to the classes" if self.classes else "at random"
        return f"The map shows {count:,} of {self.total:,} images, chosen {how} (seed {self.seed})."

    def html(self) -> str:
        """The page as HTML; the same map and version give the same page."""
        return render_page(
            "map.html.j2",
            plots=False,
            scripts=("map_view.js", "map.js"),
            styles=("map.css",),
            map=self,
            count=len(self.identities),
            model=public_name(self.model),
            data=public_name(self.data),
            definition=DEFINITION,
            content=htmlsafe_json_dumps(self._content(), separators=(",", ":")),
        )

    def write(self, path: str | Path) -> None:
        """Write the page to a file, completely or not at all."""
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        write_text(path, self.html())

    def _content(self) -> dict[str, Any]:
        """What the scripts of the page read."""
        return {
            "names": [_printable(name) for name in self.identities],
            "classes": [_printable(name) for name in self.classes],
            "labels": self.labels,
            "positions": np.rint(self.positions * _STEPS).astype(int).tolist(),
            "steps": _STEPS,
            "neighbors": self.neighbors.tolist(),
            "cosines": _rounded(self.cosines),
            "colors": PALETTE,
            "side": self.thumbnails.side,
            "perRow": PER_ROW,
        }

    def _repr_html_(self) -> str:
        return notebook_frame(self.html(), "Map of features")


def _rounded(cosines: NDArray[np.float64]) -> list[Sequence[float]]:
    return [[round(cosine, 3) for cosine in row] for row in cosines.tolist()]


def _printable(name: str) -> str:
    """A name without surrogates, which stand for bytes that are not valid Unicode."""
    return name.encode("utf-8", "backslashreplace").decode()
