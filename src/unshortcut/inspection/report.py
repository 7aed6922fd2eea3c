"""The report that `inspect_data` returns: the findings, and ways to look at them."""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from unshortcut.files import write_text
from unshortcut.inspection.findings import Inspection
from unshortcut.inspection.lists import write_lists
from unshortcut.inspection.plain import plain_values
from unshortcut.inspection.sentences import sentences
from unshortcut.measuring.wording import percent
from unshortcut.report.formats import printable

_WIDTH = 100
"""Characters per line as text."""
_STYLES = {"grave": "bold red", "notable": "yellow", "light": "green"}


@dataclass(frozen=True)
class InspectionReport:
    """An inspection as a page, in a notebook, as a table in a terminal, as lists or as values."""

    findings: Inspection

    def html(self) -> str:
        """The page as HTML."""
        from unshortcut.inspection.page import render_inspection

        return render_inspection(self.findings)

    def write(self, path: str | Path) -> None:
        """Write the page to a file, completely or not at all."""
        write_text(path, self.html())

    def write_lists(self, folder: str | Path) -> list[Path]:
        """Write what was found image by image as CSV files; returns their paths."""
        return write_lists(self.findings, Path(folder))

    def to_dict(self) -> dict[str, Any]:
        """All results as plain values, for JSON."""
        return plain_values(self.findings)

    def _repr_html_(self) -> str:
        from unshortcut.report.shell import notebook_frame

        return notebook_frame(self.html(), "Inspection")

    def __rich__(self) -> RenderableType:
        lines = [
            Text.assemble((printable(one.subject), _STYLES[one.weight]), " ", printable(one.text))
            for one in sentences(self.findings)
        ]
        return Group(*lines, *self._table())

    def __str__(self) -> str:
        console = Console(file=io.StringIO(), width=_WIDTH, color_system=None)
        with console.capture() as capture:
            console.print(self)
        return capture.get().rstrip()

    def _table(self) -> list[RenderableType]:
        """All properties that vary, the most telling first."""
        properties = self.findings.properties
        if isinstance(properties, str) or not properties.found:
            return []
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column("property")
        for title in ("accuracy", "chance", "p", "decisions changed", "in the control"):
            table.add_column(title, justify="right")
        for one in properties.found:
            use = self.findings.use_of(one.about.name)
            style = "bold red" if one.alarm else "" if one.significant else "dim"
            table.add_row(
                Text(printable(one.about.label), style=style),
                percent(one.accuracy, 1),
                percent(one.chance, 1),
                f"{one.p_value:.3f}",
                "" if use is None else percent(use.changed.value, 1),
                "" if use is None else percent(use.control.value, 1),
            )
        return [table]
