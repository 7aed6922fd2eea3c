"""The list by paper and table: every row with its recipe or command, and the paper's numbers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from unshortcut.errors import unknown
from unshortcut.recipes.catalog import paper_of
from unshortcut.recipes.paper_files import (
    MetricEntry,
    PaperEntry,
    RowEntry,
    TableEntry,
    read_papers,
)

Given = Literal["recipe", "command", "missing"]
"""What gives a row: a recipe, a command, or nothing yet."""


@dataclass(frozen=True)
class TableColumn:
    """A column of a table: a metric, and the command that measures it or why none does."""

    metric: str
    title: str
    command: str | None
    missing: str | None


@dataclass(frozen=True)
class TableRow:
    """A row of a table, with the recipe or the command that gives it, or why none does."""

    label: str
    given: Given
    source: str
    """The name of the recipe, the command, or the reason."""
    numbers: Mapping[str, float]
    """The printed numbers by metric of the column; a cell that is not printed is absent."""
    intervals: Mapping[str, float]
    """Half the width of the printed 95 % interval, where there is one."""
    option: str = ""
    """What the columns' commands of `probe` need in addition."""
    without: Mapping[str, str] | None = None
    """Reasons for cells that are absent."""


@dataclass(frozen=True)
class PaperTable:
    """A table, figure or section of a paper."""

    paper: str
    """Name of the paper's file, e.g. `dissertation`."""
    id: str
    """`2.1` for a table, `figure 6`, `section 1.4`."""
    about: str
    columns: tuple[TableColumn, ...]
    rows: tuple[TableRow, ...]
    printed: int | None
    """Number of rows that the paper prints, None if it is no table."""
    repeats: str | None
    """Address of the table with the same rows, if there is one."""

    @property
    def address(self) -> str:
        """`dissertation/2.1`."""
        return f"{self.paper}/{self.id}"

    @property
    def name(self) -> str:
        """`table 2.1`, `figure 6`."""
        return self.id if self.id.startswith(("figure", "section")) else f"table {self.id}"


def paper_titles() -> dict[str, str]:
    """Titles of the papers by the names of their files."""
    return {key: paper.title for key, paper in read_papers().items()}


def paper_tables(pattern: str = "*") -> list[PaperTable]:
    """Tables of the papers, in their order.

    `pattern` selects by the name of a paper (`looc`), the address of a table (`dissertation/2.*`),
    or the name of a recipe (`moco-v2-imagenet`), which selects the rows of that recipe.
    """
    tables = [_table(key, entry) for key, paper in read_papers().items() for entry in paper.tables]
    chosen = [
        table
        for table in tables
        if any(fnmatchcase(name, pattern) for name in (table.paper, table.address))
    ]
    if not chosen:
        chosen = [_with_recipe(table, pattern) for table in tables]
        chosen = [table for table in chosen if table.rows]
    if not chosen:
        raise unknown("paper or table", pattern, [*read_papers(), *(t.address for t in tables)])
    return chosen


def summary(tables: Sequence[PaperTable]) -> str:
    """How many rows are given by a recipe, by a command, or by nothing yet, in a sentence."""
    own = [row for table in tables if table.repeats is None for row in table.rows]
    repeated = sum(len(table.rows) for table in tables if table.repeats is not None)
    counts = Counter(row.given for row in own)
    text = (
        f"{len(own)} rows: {counts['recipe']} by a recipe, {counts['command']} by a command, "
        f"{counts['missing']} not yet"
    )
    return f"{text}; {repeated} rows repeat another table" if repeated else text


def measured_by(tables: Sequence[PaperTable]) -> dict[str, list[str]]:
    """The columns that a command measures, or that a reason excludes, by command or reason."""
    found: dict[str, list[str]] = {}
    for column in (column for table in tables for column in table.columns):
        how = column.command or f"not yet: {column.missing}"
        metrics = found.setdefault(how, [])
        if column.metric not in metrics:
            metrics.append(column.metric)
    return found


def format_number(row: TableRow, metric: str) -> str:
    """A printed number with its interval, `67.9 ± 0.5`; empty if the cell is absent."""
    if metric not in row.numbers:
        return ""
    half = f" ± {row.intervals[metric]:g}" if metric in row.intervals else ""
    return f"{row.numbers[metric]:g}{half}"


def _with_recipe(table: PaperTable, pattern: str) -> PaperTable:
    rows = (row for row in table.rows if row.given == "recipe" and fnmatchcase(row.source, pattern))
    return PaperTable(
        table.paper, table.id, table.about, table.columns, tuple(rows), None, table.repeats
    )


def _table(key: str, entry: TableEntry) -> PaperTable:
    paper, source = read_papers()[key], entry
    if entry.repeats is not None:
        paper, source = _find(entry.repeats)
    metrics = {**paper.metrics, **source.metrics}
    columns = tuple(_column(name, metrics[name]) for name in source.columns)
    kept = [row for row in source.rows if row.row not in entry.leaving_out]
    rows = tuple(_row(row, source) for row in kept)
    about = entry.about or source.about
    return PaperTable(key, entry.id, about, columns, rows, entry.printed, entry.repeats)


def _find(address: str) -> tuple[PaperEntry, TableEntry]:
    key, _, wanted = address.partition("/")
    paper = read_papers()[key]
    return paper, next(table for table in paper.tables if table.id == wanted)


def _column(name: str, entry: MetricEntry) -> TableColumn:
    return TableColumn(name, entry.title, entry.command, entry.missing)


def _row(row: RowEntry, table: TableEntry) -> TableRow:
    numbers: dict[str, float] = dict(row.values)
    intervals: dict[str, float] = {}
    if row.recipe is not None:
        metrics = paper_of(row.recipe).get("metrics", {})
        for name in table.columns:
            key = row.prefix + name
            if key in metrics and name not in row.without:
                numbers[name] = metrics[key]
            if f"{key}_ci95" in metrics:
                intervals[name] = metrics[f"{key}_ci95"]
    given, source = _given(row, table)
    return TableRow(row.row, given, source, numbers, intervals, row.option, row.without)


def _given(row: RowEntry, table: TableEntry) -> tuple[Given, str]:
    for stated in (row, table):
        found: dict[Given, str | None] = {
            "recipe": row.recipe if stated is row else None,
            "command": stated.command,
            "missing": stated.missing,
        }
        for given, source in found.items():
            if source is not None:
                return given, source
    raise ValueError(f"{table.id}, {row.row}: nothing says what gives this row")
