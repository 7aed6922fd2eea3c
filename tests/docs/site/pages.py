"""Pages of the documentation site that are no file of docs/: rewritten or gathered ones.

Everything is computed from the same Markdown and the same recipes that the tests check.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.docs.markdown import DOCUMENTS, ROOT, links, prose
from unshortcut.recipes.catalog import GROUPS, recipe_infos
from unshortcut.recipes.papers import format_number, paper_tables

FROM_THE_ROOT = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
"""Files beside docs/, and their names in the site."""
_LINK = re.compile(r"\]\(([^)\s#]*)(#[^)\s]*)?\)")
_PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")


def pages() -> dict[str, str]:
    """The Markdown of every page that is added, by its name in the site."""
    added = {
        name: rewritten((ROOT / file).read_text(encoding="utf-8"))
        for file, name in FROM_THE_ROOT.items()
    }
    return {**added, "recipe-table.md": recipe_table(), "gallery.md": gallery()}


def linked_files() -> dict[str, bytes]:
    """Other files beside docs/ that a page links to, such as the license, by their paths."""
    documents = {*DOCUMENTS, *(ROOT / name for name in FROM_THE_ROOT)}
    targets = {
        (document.parent / link.partition("#")[0]).resolve()
        for document in documents
        for link in links(document)
        if "://" not in link
    }
    outside = (path for path in targets if path.is_file() and ROOT / "docs" not in path.parents)
    named = ((path.relative_to(ROOT).as_posix(), path) for path in sorted(outside))
    return {name: path.read_bytes() for name, path in named if name not in FROM_THE_ROOT}


def rewritten(text: str) -> str:
    """Markdown with its links led to the pages of the site, where docs/ is the top.

    >>> rewritten("[a](docs/audit.md#models), [b](../README.md), [c](LICENSE), [d](data.md)")
    '[a](audit.md#models), [b](index.md), [c](LICENSE), [d](data.md)'
    """

    def led(link: re.Match[str]) -> str:
        path = link[1].removeprefix("../").removeprefix("docs/")
        return f"]({FROM_THE_ROOT.get(path, path)}{link[2] or ''})"

    return _LINK.sub(led, text)


def recipe_table() -> str:
    """Every recipe with its data, what it is, and the rows of the papers that it gives."""
    rows = list(_recipe_rows())
    head = "| recipe | data | what it is | rows of papers, with their numbers |"
    lines = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return (
        "# Search the recipes\n\n"
        f"All {len(rows)} recipes. [Recipes and settings](recipes.md) explains their keys, and "
        "[Tables of the papers](papers.md) has every row of every table, also those that a "
        "command gives. `unshortcut recipes NAME` shows a recipe with every default written out."
        '\n\n<div class="recipe-rows" markdown>\n\n'
        f"{head}\n| --- | --- | --- | --- |\n{lines}\n\n</div>\n"
    )


def _recipe_rows() -> Iterator[list[str]]:
    given: dict[str, list[str]] = {}
    for table in paper_tables():
        for row in table.rows:
            numbers = [
                f"{column.metric} {format_number(row, column.metric)}"
                for column in table.columns
                if column.metric in row.numbers
            ]
            where = f"{table.paper}, {table.name}: {row.label}"
            found = f"{where} ({', '.join(numbers)})" if numbers else where
            if row.given == "recipe":
                given.setdefault(row.source, []).append(found)
    for info in recipe_infos():
        data = GROUPS[info.group].partition(":")[0]
        papers = "<br>".join(map(_cell, given.get(info.name, [])))
        yield [f"`{info.name}`", _cell(data), _cell(info.summary), papers]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


def gallery() -> str:
    """Every picture of the documentation with its description, by the page that shows it."""
    parts = ["# Gallery\n\nThe pictures of these pages, each under the page that explains it.\n"]
    shown: set[str] = set()
    for document in DOCUMENTS:
        found = {path: text for path, text in pictures(document).items() if path not in shown}
        if found:
            shown |= set(found)
            name = FROM_THE_ROOT.get(document.name, document.name)
            cards = (f"[![{text}]({path})]({name})\n\n{text}\n" for path, text in found.items())
            parts.append(f"## [{_title(document)}]({name})\n\n" + "\n".join(cards))
    return "\n".join(parts)


def pictures(document: Path) -> dict[str, str]:
    """Descriptions of the pictures of a document, by their paths inside docs/."""
    found = (match for line in prose(document) for match in _PICTURE.findall(line))
    return {path.removeprefix("docs/"): text for text, path in found}


def _title(document: Path) -> str:
    if document.name == "README.md":
        return "Overview"
    return document.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
