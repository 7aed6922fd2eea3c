"""The report that `audit` returns: the findings, and ways to look at them."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from unshortcut.auditing.changes import ModelChanges
from unshortcut.auditing.findings import Findings
from unshortcut.files import write_text
from unshortcut.report.comparison import gaps, headlines, notes_of
from unshortcut.report.formats import (
    DASH,
    change_interval,
    change_of,
    interval_of,
    printable,
    value_of,
)
from unshortcut.report.page import render
from unshortcut.report.shell import notebook_frame

_WIDTH = 100
"""Characters per line as text."""


@dataclass(frozen=True)
class Report:
    """An audit as a page, in a notebook, as a table in a terminal, or as plain values."""

    findings: Findings

    def html(self) -> str:
        """The page as HTML."""
        return render(self.findings)

    def write(self, path: str | Path) -> None:
        """Write the page to a file, completely or not at all."""
        write_text(path, self.html())

    def to_dict(self) -> dict[str, Any]:
        """All results as plain values, for JSON."""
        return self.findings.to_dict()

    def _repr_html_(self) -> str:
        return notebook_frame(self.html(), "Audit")

    def __rich__(self) -> RenderableType:
        return Group(*self._verdicts(), *self._comparison(), *self._changes(), *self._gaps())

    def __str__(self) -> str:
        console = Console(file=io.StringIO(), width=_WIDTH, color_system=None)
        with console.capture() as capture:
            console.print(self)
        return capture.get().rstrip()

    def _verdicts(self) -> Iterator[RenderableType]:
        for model in self.findings.models:
            verdict = self.findings.verdict(model)
            yield Text.assemble((printable(model), "bold"), " ", printable(verdict.text))

    def _comparison(self) -> Iterator[RenderableType]:
        rows, models = headlines(self.findings), list(self.findings.models)
        if not rows:
            return
        notes = notes_of(rows)
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column("", overflow="fold")
        for model in models:
            table.add_column(Text(printable(model)), justify="right", overflow="fold")
        for row in rows:
            cells = []
            for model in models:
                metric = row.metrics.get(model)
                if metric is None:
                    cells.append(Text(DASH, style="dim"))
                    continue
                mark = f" [{notes[metric.note]}]" if metric.note else ""
                style = "bold" if model in row.best else ""
                cells.append(Text.assemble((value_of(metric), style), (mark, "dim")))
                if interval_of(metric):
                    cells[-1].append(f"\n{interval_of(metric)}", style="dim")
            table.add_row(Text(printable(row.label)), *cells)
        yield table
        for note, number in notes.items():
            yield Padding(Text(f"[{number}] {printable(note)}", style="dim"), (0, 0, 0, 2))

    def _changes(self) -> Iterator[RenderableType]:
        """What has changed since an earlier audit."""
        changes = self.findings.changes
        if changes is None:
            return
        yield Text(f"What has changed since {printable(changes.previous)}", style="bold")
        for difference in changes.differences:
            yield Text(f"Not comparable: {printable(difference.text)}.", style="yellow")
        for one in changes.models:
            for note in one.notes:
                yield Text(f"{printable(one.model)}: {printable(note)}", style="dim")
            if one.changes:
                yield _change_table(one)

    def _gaps(self) -> Iterator[RenderableType]:
        """What was not measured and why."""
        for name, entries in self.findings.entries.items():
            for gap in gaps(entries):
                who = f" ({', '.join(gap.models)})" if gap.models else ""
                text = f"{name}{who}: {gap.status}: {gap.reason}"
                yield Text(printable(text), style="dim")


def _change_table(found: ModelChanges) -> Table:
    """The metrics of one model in two audits."""
    styles = {"better": "green", "worse": "red"}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(Text(printable(found.model)), overflow="fold")
    for title in ("before", "now", "change"):
        table.add_column(title, justify="right")
    table.add_column("")
    for change in found.changes:
        if change.now.headline or change.direction:
            by = Text(change_of(change))
            if change_interval(change):
                by.append(f"\n{change_interval(change)}", style="dim")
            label, direction = printable(change.now.label), change.direction
            values = (value_of(one) for one in (change.before, change.now))
            table.add_row(Text(label), *values, by, Text(direction, styles.get(direction, "")))
    return table
