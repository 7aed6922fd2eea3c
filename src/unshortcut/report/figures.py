"""Plotly's figures made safe to put on a page: untrusted text shows as it is, nothing else."""

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from unshortcut.measuring.plots import PALETTE
from unshortcut.report.formats import shortened

_NAME, _LABEL = 44, 24
"""Letters of a trace's name, and of a place along an axis, that fit on a phone."""
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\n": "<br>"})
_TEMPLATES = ("hovertemplate", "texttemplate")
_TAG = re.compile(r"</?(?:extra|b|i)>|<br>")
"""What a template of a measurement may use; a name inside a template may, too, and only that."""


def figure_json(figure: dict[str, Any], colors: Mapping[str, str]) -> Markup:
    """A figure as JSON to stand inside `<script type="application/json">`.

    `colors` are those of the models, by what stands for them in the figure.

    Plotly reads a little HTML in every text (`<b>`, `<a href>`), so all text is escaped for it; a
    line feed becomes a new line. NaN and infinity become null, which Plotly leaves out.
    """
    spoken = _Spoken(_short_labels(figure), colors)
    layout = {"colorway": PALETTE, **figure.get("layout", {})}
    safe = _safe({"data": figure["data"], "layout": layout}, spoken)
    return htmlsafe_json_dumps(safe, allow_nan=False)


def _short_labels(figure: dict[str, Any]) -> dict[str, str]:
    """Long names of traces and of places along an axis, as they fit beside a plot.

    Names that would no longer differ stay as they are.
    """
    names = {trace["name"] for trace in figure["data"] if trace.get("name")}
    labels = {
        label
        for trace in figure["data"]
        for axis in ("x", "y")
        for label in (trace.get(axis) if trace.get(axis) is not None else ())
        if isinstance(label, str)
    } - names
    short = {name: shortened(name, _NAME) for name in names}
    short |= {label: shortened(label, _LABEL) for label in labels}
    often = Counter(short.values())
    return {long: one for long, one in short.items() if long != one and often[one] == 1}


@dataclass(frozen=True)
class _Spoken:
    """What the page says for the words of a figure."""

    short: Mapping[str, str]
    """For long labels."""
    colors: Mapping[str, str]
    """For what stands for the colors of models."""

    def text(self, text: str, key: str) -> str:
        if key == "color":
            text = self.colors.get(text, text)
        return _safe_text(self.short.get(text, text), key)


def _safe(value: Any, spoken: _Spoken, key: str = "") -> Any:
    if isinstance(value, str):
        return spoken.text(value, key)
    if isinstance(value, dict):
        return {str(name): _safe(entry, spoken, str(name)) for name, entry in value.items()}
    if isinstance(value, np.ndarray):
        return _safe(value.tolist(), spoken, key)
    if isinstance(value, list | tuple):
        return [_safe(entry, spoken, key) for entry in value]
    if value is None or isinstance(value, bool | np.bool_):
        return None if value is None else bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value) if math.isfinite(value) else None
    raise TypeError(f"a figure cannot hold a {type(value).__name__} ({key})")


def _safe_text(text: str, key: str) -> str:
    if key.endswith("format"):
        return text  # of numbers, in d3's language, where < and > mean an alignment
    if key not in _TEMPLATES:
        return text.translate(_ESCAPES)
    kept, parts = _TAG.findall(text), _TAG.split(text)
    escaped = [part.translate(_ESCAPES) for part in parts]
    return "".join(part + tag for part, tag in zip(escaped, [*kept, ""], strict=True))
