"""CSV files of annotations, read row by row: they may have millions of rows."""

import csv
from collections.abc import Iterator, Sequence
from operator import itemgetter
from pathlib import Path

from unshortcut.errors import UsageError


def header(path: Path) -> list[str]:
    """The names of the columns of a CSV file. Raises `UsageError`."""
    return next((row for _, row in _rows(path)), [])


def read_columns(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The number of each line after the header, and its values in the given columns.

    A row that is cut off has no values. Raises `UsageError` for a file without these columns, or
    that cannot be read.
    """
    rows = _rows(path)
    names = next((row for _, row in rows), [])
    for name in columns:
        if name not in names:
            known = ", ".join(names) or "nothing"
            raise UsageError(f"{path} has no column '{name}' in its first line, but {known}")
    positions = [names.index(name) for name in columns]
    pick = itemgetter(*positions)
    for line, row in rows:
        if len(row) <= max(positions):
            yield line, ()
        else:
            yield line, pick(row) if len(positions) > 1 else (pick(row),)


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            for row in reader:
                if row:
                    yield reader.line_num, row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
