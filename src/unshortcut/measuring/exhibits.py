"""Exhibits of a measurement: plots, tables, pictures and notes, independent of how they are drawn.

Their text is plain and untrusted, since class and file names come from the user's data: whatever
renders an exhibit must escape it.
"""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Cell = str | float | int | None
"""A cell of a table; None is shown as a dash."""


@dataclass(frozen=True)
class Plot:
    """A Plotly figure, `{"data": [...], "layout": {...}}`; see `measuring/plots.py`."""

    title: str
    figure: dict[str, Any]
    caption: str = ""
    height: int = 380


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    title: str  # starts with a capital letter
    percent: bool = False
    """Whether numbers are shares from 0 to 1, shown as percentages."""
    digits: int | None = None
    """Decimal places; by default 1 for percentages, 3 for other fractions, none for integers."""
    tip: str = ""  # shown when the pointer hovers over the title
    interval: bool = False
    """Whether it is an end of the interval of the value before it, which is shown below that."""

    @classmethod
    def estimate(
        cls,
        title: str,
        percent: bool = False,
        digits: int | None = None,
        tip: str = "",
        of: str = "",
    ) -> "tuple[Column, Column, Column]":
        """Three columns for an estimate: its value, and the ends of its 95 % interval."""
        value = f"the {of}" if of else "the value before"
        return (
            cls(title, percent, digits, tip),
            cls("From", percent, digits, f"lower end of the 95 % interval of {value}", True),
            cls("To", percent, digits, f"upper end of the 95 % interval of {value}", True),
        )


MODEL = Column("Model")
"""The column of model names, which is left out if there is only one model."""


@dataclass(frozen=True)
class Table:
    """A table that the reader can sort by any column."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    folded: bool = False
    """Whether the table is collapsed at first; for long ones, e.g. a table of all classes."""


@dataclass(frozen=True)
class Picture:
    """An image with a caption."""

    source: str  # a data URL; empty if there is nothing to show but the caption
    caption: str = ""
    mark: str = ""  # `good` or `bad` gives it a frame that says so


@dataclass(frozen=True)
class Pictures:
    """Rows of pictures, each row with a title at its left; the reader can enlarge each picture."""

    title: str
    rows: tuple[tuple[str, tuple[Picture, ...]], ...]
    columns: tuple[str, ...] = ()
    """Titles of the columns, if a column means the same in all rows."""
    caption: str = ""


@dataclass(frozen=True)
class Note:
    """A paragraph of text that helps to read the numbers correctly."""

    text: str
    warning: bool = False


Exhibit = Plot | Table | Pictures | Note


def rows_each(rows: int, models: int, least: int = 2) -> int:
    """How many rows of pictures each model gets, so that many models do not make a page heavy."""
    return max(least, rows // max(1, models - 1)) if models > 1 else rows


def picture(
    pixels: NDArray[np.uint8],
    caption: str = "",
    mark: str = "",
    *,
    side: int = 112,
    quality: int = 60,
) -> Picture:
    """A picture of a uint8 image (h, w, 3), shrunk to `side`: a PNG if it is tiny, else WebP."""
    height, width = pixels.shape[:2]
    shrink = max(height, width) / side
    if shrink > 1:
        size = (max(1, round(width / shrink)), max(1, round(height / shrink)))
        pixels = np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    kind, options = (
        ("webp", [cv2.IMWRITE_WEBP_QUALITY, quality]) if max(height, width) > 40 else ("png", [])
    )
    _, encoded = cv2.imencode(f".{kind}", np.ascontiguousarray(pixels[:, :, ::-1]), options)
    text = base64.b64encode(encoded.tobytes()).decode()
    return Picture(f"data:image/{kind};base64,{text}", caption, mark)


def picture_pixels(shown: Picture) -> NDArray[np.uint8]:
    """The image (h, w, 3) of a picture."""
    encoded = np.frombuffer(base64.b64decode(shown.source.partition(",")[2]), np.uint8)
    decoded = np.asarray(cv2.imdecode(encoded, cv2.IMREAD_COLOR), dtype=np.uint8)
    return np.ascontiguousarray(decoded[:, :, ::-1])
