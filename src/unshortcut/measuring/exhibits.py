"""What a measurement shows: plots, tables, pictures and notes, before anything draws them.

Text in them is plain and untrusted (class and file names are a stranger's): whatever draws an
exhibit escapes it.
"""

import base64
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Cell = str | float | int | None
"""None is shown as a dash."""


@dataclass(frozen=True)
class Plot:
    """A figure in Plotly's form, `{"data": [...], "layout": {...}}`; see `audit/plots.py`."""

    title: str
    figure: dict[str, Any]
    caption: str = ""
    height: int = 380


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    title: str
    """Begins with a capital."""
    percent: bool = False
    """Numbers are shares, 0 to 1, shown as percentages."""
    digits: int | None = None
    """After the point; by default 1 for percentages, 3 for other fractions, none for integers."""
    tip: str = ""
    """What the column is, in a sentence, shown on hovering."""


MODEL = Column("Model")
"""Names of models; left out where there is but one."""


@dataclass(frozen=True)
class Table:
    """Rows that a reader can sort by any column."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    folded: bool = False
    """Closed until asked for: long tables, such as one of all classes."""


@dataclass(frozen=True)
class Picture:
    """An image on the page, and what is said under it."""

    source: str
    """A data URL."""
    caption: str = ""
    mark: str = ""
    """`good` or `bad` frames it so; empty for no frame."""


@dataclass(frozen=True)
class Pictures:
    """Rows of pictures, each with a title at its left; a reader can enlarge each."""

    title: str
    rows: tuple[tuple[str, tuple[Picture, ...]], ...]
    columns: tuple[str, ...] = ()
    """Titles over the columns, where they mean the same in all rows."""
    caption: str = ""


@dataclass(frozen=True)
class Note:
    """A paragraph: what must be known to read the figures rightly."""

    text: str
    warning: bool = False


Exhibit = Plot | Table | Pictures | Note


def interval(
    of: str = "", *, percent: bool = False, digits: int | None = None
) -> tuple[Column, Column]:
    """The ends of the interval of the column before, which is that `of` something."""
    whose = f"the 95 % interval of the {of}" if of else "its 95 % interval"
    return (
        Column("From", percent, digits, f"lower end of {whose}"),
        Column("To", percent, digits, f"upper end of {whose}"),
    )


def picture(
    pixels: NDArray[np.uint8], caption: str = "", mark: str = "", *, side: int = 160
) -> Picture:
    """uint8 (h, w, 3) as a picture: tiny ones as PNG, others as JPEG, shrunk to `side`."""
    height, width = pixels.shape[:2]
    shrink = max(height, width) / side
    if shrink > 1:
        size = (max(1, round(width / shrink)), max(1, round(height / shrink)))
        pixels = np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    kind, options = (
        ("jpeg", [cv2.IMWRITE_JPEG_QUALITY, 88]) if max(height, width) > 40 else ("png", [])
    )
    _, encoded = cv2.imencode(f".{kind}", np.ascontiguousarray(pixels[:, :, ::-1]), options)
    text = base64.b64encode(encoded.tobytes()).decode()
    return Picture(f"data:image/{kind};base64,{text}", caption, mark)
