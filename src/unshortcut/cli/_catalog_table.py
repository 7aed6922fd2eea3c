"""How `recipes` and `protocols` print a listing, and a file with all of its settings."""

from collections.abc import Iterable, Mapping
from itertools import groupby

from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table

from unshortcut.yaml_catalog import Entry


def is_pattern(name: str | None) -> bool:
    """Whether several files are asked for: all, or those that match a pattern."""
    return name is None or bool(set(name) & set("*?["))


def print_entries(
    console: Console, kind: str, entries: Iterable[Entry], groups: Mapping[str, str]
) -> None:
    """Print one table per group."""
    for group, rows in groupby(entries, key=lambda entry: entry.group):
        title = groups.get(group, group)
        table = Table(kind, "what it is for", title=title, title_justify="left")
        for entry in rows:
            table.add_row(entry.name, entry.summary)
        console.print(table)


def print_yaml(console: Console, text: str) -> None:
    """Print a file, colored in a terminal."""
    console.print(Syntax(text, "yaml") if console.is_terminal else text, highlight=False)
