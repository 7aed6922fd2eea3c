"""Thumbnails of many images in a few pictures (sprite sheets), small enough for one page."""

import base64
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

SIDES = (96, 80, 64, 48, 32)
"""Sides of a thumbnail in pixels; the largest that fits into the page is used."""
PER_ROW = 32
"""Thumbnails in a row of a sheet, and rows of a sheet: phones refuse much larger pictures."""
BUDGET, PER_IMAGE = 7_500_000, 1_500
"""Characters that all sheets may take: `BUDGET`, or `PER_IMAGE` for each of very many images."""
_QUALITY = 70


@dataclass(frozen=True)
class Thumbnails:
    """Sheets as data URLs; thumbnails are in reading order, `PER_ROW`² to a sheet."""

    sheets: tuple[str, ...]
    side: int

    @property
    def size(self) -> int:
        """Characters of all sheets."""
        return sum(map(len, self.sheets))


def thumbnails(tiles: NDArray[np.uint8]) -> Thumbnails:
    """Sheets of square images (N, S, S, 3), in RGB, which are shrunk as far as necessary."""
    budget = max(BUDGET, PER_IMAGE * len(tiles))
    found = None
    for side in (side for side in SIDES if side <= max(tiles.shape[1], SIDES[-1])):
        found = Thumbnails(tuple(_sheets(tiles, side)), side)
        if found.size <= budget:
            break
    assert found is not None
    return found


def _sheets(tiles: NDArray[np.uint8], side: int) -> list[str]:
    each = PER_ROW**2
    return [_sheet(tiles[at : at + each], side) for at in range(0, len(tiles), each)]


def _sheet(tiles: NDArray[np.uint8], side: int) -> str:
    rows = -(-len(tiles) // PER_ROW)
    sheet = np.zeros((rows * side, min(len(tiles), PER_ROW) * side, 3), np.uint8)
    for number, tile in enumerate(tiles):
        top, left = number // PER_ROW * side, number % PER_ROW * side
        if len(tile) != side:
            tile = cv2.resize(tile, (side, side), interpolation=cv2.INTER_AREA)
        sheet[top : top + side, left : left + side] = tile
    # WebP: a seventh smaller than JPEG of the same quality, and every browser of today reads it.
    options = [cv2.IMWRITE_WEBP_QUALITY, _QUALITY]
    _, encoded = cv2.imencode(".webp", np.ascontiguousarray(sheet[:, :, ::-1]), options)
    return f"data:image/webp;base64,{base64.b64encode(encoded.tobytes()).decode()}"
