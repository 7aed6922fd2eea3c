"""Numbers and names as text, the same on the page and in a terminal."""

import math
import re
import unicodedata
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

from markupsafe import Markup

from unshortcut.auditing.changes import Change
from unshortcut.data.tree import IMAGE_EXTENSIONS
from unshortcut.measurements.measurement import Metric
from unshortcut.measuring.correlation import Correlation
from unshortcut.measuring.exhibits import Column
from unshortcut.progress import duration as duration

DASH = "–"
"""Shown where there is no number."""
_PERCENT = "\N{NO-BREAK SPACE}%"
_FOLDERS = re.compile(
    rf"(?:[^\s/]+/)+(?=[^\s/]+\.(?:{'|'.join(sorted(IMAGE_EXTENSIONS))})\b)", re.IGNORECASE
)
"""Folders in front of the name of an image file."""
_PERCENT_DIGITS, _FRACTION_DIGITS = 1, 3


def number(value: float, digits: int | None = None, *, percent: bool = False) -> str:
    """Format a number: `1,024`, `0.250` or `25.0 %`, and a dash for NaN."""
    if math.isnan(value):
        return DASH
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if digits is None:
        default = 0 if isinstance(value, Integral) else _FRACTION_DIGITS
        digits = _PERCENT_DIGITS if percent else default
    text = f"{100 * value if percent else value:z,.{digits}f}".replace("-", "−")
    return text + _PERCENT if percent else text


def cell(value: Any, column: Column) -> str:
    """Format a cell of a table."""
    if value is None:
        return DASH
    if isinstance(value, Real):
        return number(value, column.digits, percent=column.percent)  # type: ignore[arg-type]
    return str(value)


def interval(ends: Sequence[Any], column: Column) -> str:
    """Format the ends of an interval in a table: `71.0 to 80.2`, or nothing."""
    if any(sort_key(end) is None for end in ends):
        return ""
    return " to ".join(cell(end, column).removesuffix(_PERCENT) for end in ends)


def sort_key(value: Any) -> float | None:
    """The exact number that a cell is sorted by; None for text and missing values."""
    return float(value) if isinstance(value, Real) and not math.isnan(value) else None


def value_of(metric: Metric) -> str:
    """Format the value of a metric: `76.2 %`, `0.512`, `76.7`."""
    return number(float(metric.value), _digits(metric), percent=metric.percent)


def interval_of(metric: Metric) -> str:
    """Format the interval of a metric in the unit of its value: `71.0 to 80.2`, or nothing."""
    ends = [end for end in (metric.low, metric.high) if end is not None and not math.isnan(end)]
    if len(ends) < 2:
        return ""
    texts = [number(float(end), _digits(metric), percent=metric.percent) for end in ends]
    return " to ".join(text.removesuffix(_PERCENT) for text in texts)


def change_of(change: Change) -> str:
    """Format the difference of a metric to its earlier value, in its unit: `+2.1`, `−0.034`."""
    return _signed(change.by.value, change)


def change_interval(change: Change) -> str:
    """Format the interval of a difference: `−1.2 to +5.4`, or nothing."""
    if math.isnan(change.by.low) or math.isnan(change.by.high):
        return ""
    return f"{_signed(change.by.low, change)} to {_signed(change.by.high, change)}"


def correlation_text(found: Correlation) -> str:
    """A correlation in words: `0.82 (95 % interval 0.31 to 0.96), 8 models`."""
    if math.isnan(found.value):
        return found.reason
    value = number(found.value, 2)
    if math.isnan(found.low):
        return f"{value}, {found.n} models; {found.reason}"
    interval = f"95 % interval {number(found.low, 2)} to {number(found.high, 2)}"
    return f"{value} ({interval}), {found.n} models"


def share(value: float) -> str:
    """A position from 0 to 1 as a coordinate of SVG: `26.4%`."""
    return f"{100 * min(1.0, max(0.0, value)):.4g}%"


def listed(names: list[str]) -> str:
    """Join names: `a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def prose(text: str) -> str:
    """Prevent line breaks between a number and its `%`."""
    return re.sub(r"(?<=\d) %", _PERCENT, text)


def breakable(text: str) -> Markup:
    """Allow line breaks inside the names of files, models and metrics."""
    return Markup("<wbr>").join(re.split(r"(?<=[/_:@])(?=\w)", text))


def without_folders(text: str) -> str:
    """Remove the folders of image files: `was a/b/c.png` becomes `was c.png`."""
    return _FOLDERS.sub("", text)


def shortened(name: str, most: int = 44) -> str:
    """Shorten a name in the middle; runs often differ in the beginning and the end."""
    half = (most - 1) // 2
    return name if len(name) <= most else f"{name[: most - 1 - half]}…{name[-half:]}"


def printable(text: str) -> str:
    """Replace control characters, which a terminal would obey."""
    return "".join("�" if unicodedata.category(one) in ("Cc", "Cs") else one for one in text)


def sentence(clause: str) -> str:
    """A clause as a sentence: with a capital letter and a full stop."""
    return f"{clause[:1].upper()}{clause[1:]}."


def _signed(value: float, change: Change) -> str:
    text = number(value, _digits(change.now), percent=change.now.percent).removesuffix(_PERCENT)
    return f"+{text}" if value > 0 and text[0] != DASH else text


def _digits(metric: Metric) -> int:
    """Decimals: percentages have one, other numbers three or four significant digits."""
    if metric.percent:
        return _PERCENT_DIGITS
    sizes = [abs(one) for one in (metric.value, metric.low, metric.high) if one is not None]
    return 1 if max((one for one in sizes if not math.isnan(one)), default=0.0) >= 10 else 3
