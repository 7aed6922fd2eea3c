"""Queries and their neighbors as one picture, a block of columns a model."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from unshortcut.arrays import ImageArray
from unshortcut.data.source import Image
from unshortcut.views.sheet import sheet

SAME, OTHER = (38, 152, 62), (205, 48, 42)
"""Colors of the frames."""
_FRAME = 0.05
"""Thickness of a frame, as a part of the image's longer side."""
_LETTER, _GAP = 8, 16
"""Pixels of a title's letter, about; and between two blocks."""


@dataclass(frozen=True)
class Block:
    """The neighbors that one model finds."""

    title: str
    images: Sequence[Sequence[Image]]
    """A row a query."""
    same_class: NDArray[np.bool_] | None
    """(rows, columns): which frames are green and not red; None for no frames."""


def neighbor_sheet(
    row_titles: Sequence[str], queries: Sequence[Image], blocks: Sequence[Block], *, side: int
) -> PillowImage.Image:
    """The queries in the first column, then the blocks, each under its title."""
    shown = [[_pixels(query, side)] for query in queries]
    parts = [sheet(shown, ["query"], row_titles, side=side)]
    for block in blocks:
        room = len(block.images[0]) * side // _LETTER
        parts.append(sheet(_rows(block, side), [_shortened(block.title, room)], side=side))
    width = sum(part.width for part in parts) + _GAP * len(blocks)
    page = PillowImage.new("RGB", (width, parts[0].height), (255, 255, 255))
    left = 0
    for part in parts:
        page.paste(part, (left, 0))
        left += part.width + _GAP
    return page


def _rows(block: Block, side: int) -> list[list[ImageArray]]:
    rows = [[_pixels(image, side) for image in row] for row in block.images]
    if block.same_class is None:
        return rows
    return [
        [_framed(image, SAME if alike else OTHER) for image, alike in zip(row, same, strict=True)]
        for row, same in zip(rows, block.same_class, strict=True)
    ]


def _pixels(image: Image, side: int) -> ImageArray:
    """An image, decoded no finer than it is shown."""
    return image.pixels(max(1.0, max(image.height, image.width) / side))


def _framed(image: ImageArray, color: tuple[int, int, int]) -> ImageArray:
    height, width, _ = image.shape
    thick = max(1, round(_FRAME * max(height, width)))
    framed = np.empty((height + 2 * thick, width + 2 * thick, 3), np.uint8)
    framed[:] = color
    framed[thick:-thick, thick:-thick] = image
    return framed


def _shortened(title: str, letters: int) -> str:
    """The end of a long title, which tells runs in one folder apart."""
    return title if len(title) <= letters else f"…{title[1 - letters :]}"
