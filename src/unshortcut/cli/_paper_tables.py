"""The tables of the papers in the terminal, for `unshortcut recipes --papers`."""

from collections.abc import Sequence
from itertools import groupby

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from unshortcut.recipes.papers import (
    PaperTable,
    TableRow,
    format_number,
    measured_by,
    paper_titles,
    summary,
)


def print_paper_tables(console: Console, tables: Sequence[PaperTable]) -> None:
    """Print tables by paper, then what measures their columns, and how many rows are covered."""
    titles = paper_titles()
    for paper, group in groupby(tables, key=lambda table: table.paper):
        console.print(f"[bold]{paper}[/]: {escape(titles[paper])}")
        for table in group:
            same = f" (as {table.repeats})" if table.repeats else ""
            title = escape(f"{paper}, {table.name}{same}: {table.about}")
            shown = _wrapping("row", "given by", "in the paper", title=title)
            for row in table.rows:
                shown.add_row(escape(row.label), escape(_given(row)), escape(_numbers(table, row)))
            console.print(shown)
    commands = _wrapping("command", "metrics", title="how the metrics are measured")
    for how, metrics in measured_by(tables).items():
        commands.add_row(escape(how), ", ".join(metrics))
    console.print(commands)
    console.print(summary(tables))


def _wrapping(*headers: str, title: str) -> Table:
    table = Table(title=title, title_justify="left")
    for header in headers:
        table.add_column(header, overflow="fold")
    return table


def _given(row: TableRow) -> str:
    source = f"not yet: {row.source}" if row.given == "missing" else row.source
    return f"{source} ({row.option})" if row.option else source


def _numbers(table: PaperTable, row: TableRow) -> str:
    cells = ((column.metric, format_number(row, column.metric)) for column in table.columns)
    return ", ".join(f"{metric} {number}" for metric, number in cells if number)
