"""The top of the page: where each model stands on a few axes, and pictures that show it.

Measurements declare what they contribute (`Measurement.glance`); this file knows none of them.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from unshortcut.auditing.findings import Findings
from unshortcut.measuring.estimates import Estimate
from unshortcut.measuring.exhibits import Picture, Pictures
from unshortcut.measuring.glance import Axis, AxisMark, GlancePart, TellingPicture
from unshortcut.measuring.known_values import is_untrained
from unshortcut.measuring.plots import PALETTE
from unshortcut.report.comparison import gaps
from unshortcut.report.formats import number, shortened

HEAD, ROW, LINE, GAP = 46, 36, 15, 26
"""Pixels: the two lines above an axis, the row of a model, a line of marks, space between axes."""
_NARROW, _LETTER = 340, 6.4
"""Width of the picture on a phone, and of a letter of a mark, in pixels."""
_LINES = 2
"""Lines of labels of marks."""


@dataclass(frozen=True)
class ShownPosition:
    """A model on an axis: a position, or why there is none."""

    model: str
    color: str
    symbol: int
    estimate: Estimate | None
    missing: str = ""

    @property
    def text(self) -> str:
        """The value and its interval: `26 % (22 to 30)`."""
        if self.estimate is None:
            return self.missing
        one = self.estimate
        value = number(one.value, 0, percent=True)
        if math.isnan(one.low) or math.isnan(one.high):
            return value
        return f"{value} ({number(100 * one.low, 0)} to {number(100 * one.high, 0)})"


@dataclass(frozen=True)
class ShownMark:
    """A known value on an axis, and the line of its label; None where there is no room."""

    name: str
    value: float
    line: int | None
    anchor: str


@dataclass(frozen=True)
class ShownAxis:
    """One axis of the picture."""

    measurement: str
    axis: Axis
    top: int
    """Pixels from the top of the picture."""
    positions: tuple[ShownPosition, ...]
    nothing: str
    """Why no model has a position; empty if some have."""
    marks: tuple[ShownMark, ...]

    @property
    def rows_end(self) -> int:
        return self.top + HEAD + ROW * (1 if self.nothing else len(self.positions))

    @property
    def bottom(self) -> int:
        lines = max((one.line + 1 for one in self.marks if one.line is not None), default=0)
        return self.rows_end + (LINE * lines + 4 if lines else 0)

    @property
    def description(self) -> str:
        """The axis in words, for readers who do not see it."""
        models = self.nothing or "; ".join(f"{one.model} {one.text}" for one in self.positions)
        known = "; ".join(f"{one.name} {number(one.value, 0, percent=True)}" for one in self.marks)
        return (
            f"From {self.axis.left} (0 %) to {self.axis.right} (100 %), {self.axis.meaning}: "
            f"{models}{f'. For comparison: {known}' if known else ''}."
        )


@dataclass(frozen=True)
class Glance:
    """Everything at the top of the page."""

    axes: tuple[ShownAxis, ...]
    pictures: Pictures | None

    @property
    def height(self) -> int:
        return self.axes[-1].bottom + 4 if self.axes else 0

    @property
    def marked(self) -> bool:
        return any(one.marks for one in self.axes)

    @property
    def description(self) -> str:
        return " ".join(one.description for one in self.axes)


def glance(findings: Findings) -> Glance:
    """Collect what the measurements contribute; one that raises contributes nothing."""
    axes: list[ShownAxis] = []
    columns: list[tuple[str, TellingPicture]] = []
    top = 0
    for name, part in _parts(findings):
        if isinstance(part, Axis):
            axes.append(_axis(findings, name, part, top))
            top = axes[-1].bottom + GAP
        else:
            columns.append((name, part))
    return Glance(tuple(axes), _pictures(findings, columns))


def place_marks(marks: Sequence[AxisMark]) -> tuple[ShownMark, ...]:
    """Give each mark the first line where its label has room, in the order of the marks."""
    taken: list[list[tuple[float, float]]] = [[] for _ in range(_LINES)]
    shown = []
    for one in marks:
        width = _LETTER * len(one.name)
        x = one.value * _NARROW
        if x < width / 2:
            anchor, start = "start", x
        elif x > _NARROW - width / 2:
            anchor, start = "end", x - width
        else:
            anchor, start = "middle", x - width / 2
        end, free = start + width, None
        for line, used in enumerate(taken):
            if all(end + _LETTER < low or start - _LETTER > high for low, high in used):
                used.append((start, end))
                free = line
                break
        shown.append(ShownMark(one.name, one.value, free, anchor))
    return tuple(shown)


def _parts(findings: Findings) -> Iterator[tuple[str, GlancePart]]:
    for name, measurement in findings.measurements.items():
        try:
            parts = tuple(measurement.glance(findings.results(name)))
        except Exception:  # a user's measurement may raise anything
            continue
        for part in parts:
            yield name, part


def _axis(findings: Findings, measurement: str, axis: Axis, top: int) -> ShownAxis:
    positions = []
    for index, (model, info) in enumerate(findings.models.items()):
        if info.error:
            continue
        entry = findings.entries[measurement].get(model)
        missing = axis.missing.get(model) or (entry.status if entry else "not measured")
        estimate = axis.positions.get(model)
        color = PALETTE[index % len(PALETTE)]
        symbol = index % len(PALETTE)
        known = estimate if estimate is not None and not math.isnan(estimate.value) else None
        positions.append(ShownPosition(model, color, symbol, known, missing))
    found = [one for one in positions if one.estimate is not None]
    nothing = ""
    if not found and not axis.missing:
        (reason, *more) = [gap.reason for gap in gaps(findings.entries[measurement])] or [""]
        nothing = "not measured" if more or not reason else f"not measured: {reason}"
    untrained = [
        AxisMark("untrained", one.estimate.value)
        for one in found
        if one.estimate is not None and is_untrained(one.model)
    ]
    marks = place_marks([*untrained, *axis.marks]) if found else ()
    return ShownAxis(
        measurement, axis, top, tuple(positions), shortened(nothing, 54) if nothing else "", marks
    )


def _pictures(findings: Findings, columns: Sequence[tuple[str, TellingPicture]]) -> Pictures | None:
    """One row per model, one column per kind of picture; None if there is not a single picture."""
    columns = [(name, one) for name, one in columns if one.pictures]
    rows = []
    for model, info in findings.models.items():
        if info.error:
            continue
        row = []
        for name, one in columns:
            entry = findings.entries[name].get(model)
            measured = entry is not None and entry.status == "done"
            nothing = Picture("", one.missing if measured else "not measured")
            row.append(replace(one.pictures.get(model, nothing), mark=""))
        rows.append((model, tuple(row)))
    titles = tuple(one.title for _, one in columns)
    return Pictures("", tuple(rows), titles) if columns else None
