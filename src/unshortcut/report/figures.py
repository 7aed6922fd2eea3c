"""Plotly figures made safe for the page: untrusted text is shown as text."""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from unshortcut.measuring.plots import PALETTE
from unshortcut.report.formats import shortened

_NAME, _LABEL = 44, 24
"""Characters of the name of a trace, and of a label on an axis, that fit on a phone."""
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\n": "<br>"})
_TEMPLATES = ("hovertemplate", "texttemplate")
_TAG = re.compile(r"</?(?:extra|b|i)>|<br>")
"""Tags that the templates of a measurement may use; all others are escaped."""


def figure_json(figure: dict[str, Any], colors: Mapping[str, str]) -> Markup:
    """A figure as JSON for `<script type="application/json">`.

    Plotly renders some HTML in every text (`<b>`, `<a href>`), so all text is escaped; a line feed
    becomes a line break. NaN and infinity become null, which Plotly leaves out.

    Args:
        colors: colors of the models, by their placeholders in the figure.
    """
    short = _short_labels(figure)

    def shown(text: str, key: str) -> str:
        if key == "color":
            text = colors.get(text, text)
        return _safe_text(short.get(text, text), key)

    layout = {"colorway": PALETTE, **figure.get("layout", {})}
    safe = _safe({"data": figure["data"], "layout": layout}, shown)
    return htmlsafe_json_dumps(safe, allow_nan=False)


def _short_labels(figure: dict[str, Any]) -> dict[str, str]:
    """Short forms of long names of traces and labels of axes, as far as they stay distinct."""
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
    count = Counter(short.values())
    return {long: one for long, one in short.items() if long != one and count[one] == 1}


def _safe(value: Any, shown: Callable[[str, str], str], key: str = "") -> Any:
    """Plain values for JSON; `shown` is applied to every text and its key."""
    if isinstance(value, str):
        return shown(value, key)
    if isinstance(value, dict):
        return {str(name): _safe(entry, shown, str(name)) for name, entry in value.items()}
    if isinstance(value, np.ndarray):
        return _safe(value.tolist(), shown, key)
    if isinstance(value, list | tuple):
        return [_safe(entry, shown, key) for entry in value]
    if value is None or isinstance(value, bool | np.bool_):
        return None if value is None else bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        # Eight digits are more than any screen shows, and they keep the page small.
        return float(f"{value:.8g}") if math.isfinite(value) else None
    raise TypeError(f"a figure cannot hold a {type(value).__name__} ({key})")


def _safe_text(text: str, key: str) -> str:
    if key.endswith("format"):
        return text  # a number format of d3, where < and > set the alignment
    if key not in _TEMPLATES:
        return text.translate(_ESCAPES)
    kept, parts = _TAG.findall(text), _TAG.split(text)
    escaped = [part.translate(_ESCAPES) for part in parts]
    return "".join(part + tag for part, tag in zip(escaped, [*kept, ""], strict=True))
