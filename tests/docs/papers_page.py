"""The page `docs/papers.md`: every table of the papers with recipes, commands and numbers.

`python -m tests.docs.papers_page --write` writes it.
"""

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from tests.docs.generated import main
from unshortcut.recipes.papers import (
    PaperTable,
    TableRow,
    format_number,
    measured_by,
    paper_tables,
    paper_titles,
    summary,
)

PAGE = Path(__file__).parent.parent.parent / "docs" / "papers.md"
_INTRODUCTION = """# The tables of the papers

Every table of the papers, row by row: the recipe or the command that gives a row, and the numbers
that the paper prints. Rows that unshortcut cannot give yet say why. After `unshortcut pretrain
RECIPE --data DATA --out RUN`, the commands under [How the metrics are measured]
(#how-the-metrics-are-measured) measure the columns. `unshortcut recipes --papers` prints the same
list; `python -m tests.docs.papers_page --write` writes this page.
""".replace("]\n(", "](")


def page() -> str:
    """The text of the page."""
    tables, titles = paper_tables(), paper_titles()
    parts = [_INTRODUCTION, f"In all, {summary(tables)}.\n"]
    for paper, group in groupby(tables, key=lambda table: table.paper):
        parts.append(f"## {paper}\n\n{_sentence(titles[paper])}\n")
        parts += [_section(paper, table) for table in group]
    rows = (
        [f"`{how}`" if how.startswith("unshortcut") else how, _names(metrics)]
        for how, metrics in measured_by(tables).items()
    )
    parts.append("## How the metrics are measured\n\n" + _markdown(["command", "metrics"], rows))
    return "\n".join(parts)


def _section(paper: str, table: PaperTable) -> str:
    heading = f"### {paper}, {table.name}\n\n{_sentence(table.about)}"
    if table.repeats is not None:
        other, _, which = table.repeats.partition("/")
        kind = "" if which.startswith("figure") else "table "
        heading += f" The rows are those of {other}, {kind}{which}."
    header = ["row", "given by", *(column.metric for column in table.columns)]
    rows = (
        [row.label, _given(row), *(_cell(row, column.metric) for column in table.columns)]
        for row in table.rows
    )
    return f"{heading}\n\n{_markdown(header, rows)}"


def _given(row: TableRow) -> str:
    source = f"not yet: {row.source}" if row.given == "missing" else f"`{row.source}`"
    return f"{source} with `{row.option}`" if row.option else source


def _cell(row: TableRow, metric: str) -> str:
    return format_number(row, metric) or (row.without or {}).get(metric, "")


def _names(metrics: Iterable[str]) -> str:
    return ", ".join(f"`{metric}`" for metric in metrics)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _markdown(header: list[str], rows: Iterable[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    cells = ([cell.replace("|", "\\|") for cell in line] for line in lines)
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


if __name__ == "__main__":
    main(page(), PAGE, __doc__)
