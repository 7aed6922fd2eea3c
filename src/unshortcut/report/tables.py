"""Tables as the page shows them: an estimate is one cell, with its interval below the value."""

from collections.abc import Sequence
from dataclasses import dataclass

from unshortcut.measuring.exhibits import Cell, Column, Table
from unshortcut.report.formats import cell, interval, sort_key


@dataclass(frozen=True)
class ShownCell:
    """One cell of a table."""

    text: str
    number: bool
    key: str = ""
    """What it is sorted by; empty for text and missing values."""
    interval: str = ""


def columns_of(table: Table) -> list[Column]:
    """The columns that are shown."""
    return [column for column in table.columns if not column.interval]


def rows_of(table: Table) -> list[list[ShownCell]]:
    """The rows, with one cell per shown column."""
    starts = [at for at, column in enumerate(table.columns) if not column.interval]
    ends = [*starts[1:], len(table.columns)]
    return [
        [
            _cell(table.columns[start], row[start:end])
            for start, end in zip(starts, ends, strict=True)
        ]
        for row in table.rows
    ]


def _cell(column: Column, values: Sequence[Cell]) -> ShownCell:
    value, *ends = values
    key = sort_key(value)
    return ShownCell(
        cell(value, column),
        not isinstance(value, str),
        "" if key is None else f"{key:.6g}",
        interval(ends, column) if len(ends) == 2 else "",
    )
