"""Images with their nearest neighbors as rows of pictures, for a page or an image file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image as PillowImage

from unshortcut.arrays import ImageArray
from unshortcut.measuring.exhibits import Picture, Pictures, picture_pixels
from unshortcut.views.sheet import sheet

FRAMES = {"good": (38, 152, 62), "bad": (205, 48, 42)}
"""Colors of the frames around neighbors of the query's class and of other classes."""
_FRAME = 0.05
"""Thickness of a frame, as a share of the longer side of the image."""


@dataclass(frozen=True)
class QueryNeighbors:
    """An image and its nearest neighbors according to one model."""

    identity: str
    shown: Picture
    neighbors: tuple[Picture, ...]
    """The nearest first; marked `good` if they have the class of the query, else `bad`."""


def neighbor_pictures(models: Mapping[str, Sequence[QueryNeighbors]]) -> Pictures:
    """One row per query that all models have: the query, then its neighbors by each model."""
    by_identity = [{query.identity: query for query in own} for own in models.values()]
    rows = tuple(
        (identity, (first.shown, *(one for own in by_identity for one in own[identity].neighbors)))
        for identity, first in by_identity[0].items()
        if all(identity in own for own in by_identity)
    )
    titles = [
        f"{name}: {rank}"
        for name, own in models.items()
        for rank, _ in enumerate(own[0].neighbors if own else (), start=1)
    ]
    caption = "The nearest neighbor comes first."
    if any(one.mark for _, row in rows for one in row):
        caption += " The frame shows whether it has the class of the query."
    return Pictures("Nearest neighbors", rows, ("query", *titles), caption)


def draw_sheet(shown: Pictures, titles: Sequence[str], side: int) -> PillowImage.Image:
    """Rows of pictures as one image, each row with the caption of its first picture at its left.

    A title of a column may extend over empty ones to its right.
    """
    rows = [[_framed(picture_pixels(one), one.mark) for one in row] for _, row in shown.rows]
    captions = [row[0].caption for _, row in shown.rows]
    return sheet(rows, titles, captions if any(captions) else (), side=side)


def _framed(image: ImageArray, mark: str) -> ImageArray:
    if mark not in FRAMES:
        return image
    thick = max(1, round(_FRAME * max(image.shape)))
    framed = np.full(np.add(image.shape, (2 * thick, 2 * thick, 0)), FRAMES[mark], np.uint8)
    framed[thick:-thick, thick:-thick] = image
    return framed
