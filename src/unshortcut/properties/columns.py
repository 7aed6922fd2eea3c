"""The properties of images that may tell their class, and their values as columns of numbers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unshortcut.properties.file_facts import FileFacts
from unshortcut.properties.pixel_facts import PIXEL_NAMES

Kind = Literal["file", "content"]
"""Whether a relation to the class can only come from the files, or may come from what is shown."""
NO_JPEG = 0.0
"""The value of `jpeg_quality` for a file that is not a JPEG."""
_FIRST_TABLE = 101.0
"""From here on, values of `jpeg_quality` stand for tables that are not standard ones."""


@dataclass(frozen=True)
class Property:
    """A property of images."""

    name: str
    """As in the JSON file, e.g. `jpeg_quality`."""
    label: str
    kind: Kind
    categories: bool = False
    """Whether values are categories, whose order means nothing."""
    digits: int = 0
    """Decimal places of a value in a table."""


FILE_PROPERTIES = (
    Property("format", "File format", "file", categories=True),
    Property("width", "Width in pixels", "file"),
    Property("height", "Height in pixels", "file"),
    Property("aspect", "Aspect, log₂(width / height)", "file", digits=2),
    Property("jpeg_quality", "JPEG quality", "file"),
    Property("subsampling", "Chroma subsampling", "file", categories=True),
    Property("exif", "EXIF data", "file", categories=True),
    Property("camera", "Camera", "file", categories=True),
    Property("software", "Software", "file", categories=True),
    Property("bytes_per_pixel", "Bytes per pixel", "content", digits=3),
)
_LABELS = {
    "brightness": "Brightness", "contrast": "Contrast", "red": "Mean of red",
    "green": "Mean of green", "blue": "Mean of blue", "saturation": "Saturation",
    "grayness": "Share of gray pixels", "border_brightness": "Brightness of the border",
    "border_contrast": "Contrast of the border", "sharpness": "Sharpness",
}  # fmt: skip
PIXEL_PROPERTIES = tuple(
    Property(name, _LABELS[name], "content", digits=0 if name == "sharpness" else 3)
    for name in PIXEL_NAMES
)
PROPERTIES = {one.name: one for one in (*FILE_PROPERTIES, *PIXEL_PROPERTIES)}
NO_FILE = ("width", "height", "aspect")
"""Properties of files that images without a file have as well."""


@dataclass(frozen=True)
class Column:
    """The values of a property for N images."""

    about: Property
    values: NDArray[np.float64]  # (N,)
    names: Mapping[float, str] = field(default_factory=dict)
    """What values are called that are not numbers."""

    @property
    def constant(self) -> bool:
        """Whether all images have the same value."""
        return len(self.values) == 0 or bool((self.values == self.values[0]).all())

    def take(self, rows: NDArray[np.int64]) -> "Column":
        """The values of some images."""
        return Column(self.about, self.values[rows], self.names)

    def text(self, value: float) -> str:
        """A value as a reader sees it."""
        if value in self.names:
            return self.names[value]
        return f"{value:z,.{self.about.digits}f}".replace("-", "−")


def size_columns(sizes: NDArray[np.int64]) -> dict[str, Column]:
    """Columns of upright images of (height, width), `sizes` (N, 2)."""
    height, width = sizes.T.astype(np.float64)
    values = {"width": width, "height": height, "aspect": np.log2(width / height)}
    return {name: Column(PROPERTIES[name], one) for name, one in values.items()}


def pixel_columns(values: NDArray[np.float64]) -> dict[str, Column]:
    """Columns of `PIXEL_NAMES`, `values` (N, P)."""
    return {
        name: Column(PROPERTIES[name], one) for name, one in zip(PIXEL_NAMES, values.T, strict=True)
    }


def file_columns(facts: Sequence[FileFacts], sizes: NDArray[np.int64]) -> dict[str, Column]:
    """Columns of files, in the order of `FILE_PROPERTIES`."""
    pixels = sizes.prod(axis=1)
    texts = {
        "format": [one.format for one in facts],
        "subsampling": [one.jpeg.subsampling if one.jpeg else "" for one in facts],
        "exif": ["yes" if one.has_exif else "no" for one in facts],
        "camera": [one.camera for one in facts],
        "software": [one.software for one in facts],
    }
    columns = size_columns(sizes) | {name: _categories(name, one) for name, one in texts.items()}
    columns["jpeg_quality"] = _qualities(facts)
    density = np.array([one.bytes for one in facts]) / np.maximum(pixels, 1)
    columns["bytes_per_pixel"] = Column(PROPERTIES["bytes_per_pixel"], density)
    return {one.name: columns[one.name] for one in FILE_PROPERTIES}


def _categories(name: str, texts: Sequence[str]) -> Column:
    """Categories numbered in alphabetical order."""
    found, numbers = np.unique(np.array(texts, dtype=np.str_), return_inverse=True)
    names = {float(number): str(text) or "none" for number, text in enumerate(found)}
    return Column(PROPERTIES[name], numbers.astype(np.float64), names)


def _qualities(facts: Sequence[FileFacts]) -> Column:
    """Qualities as numbers; tables that are not standard ones follow, each with its own number."""
    values = np.full(len(facts), math.nan)
    others = sorted({one.jpeg.table for one in facts if one.jpeg and one.jpeg.quality is None})
    number = {table: _FIRST_TABLE + index for index, table in enumerate(others)}
    for row, one in enumerate(facts):
        if one.jpeg is None:
            values[row] = NO_JPEG
        else:
            quality = one.jpeg.quality
            values[row] = number[one.jpeg.table] if quality is None else quality
    names = {value: f"table {table}" for table, value in number.items()}
    return Column(PROPERTIES["jpeg_quality"], values, names | {NO_JPEG: "no JPEG"})
