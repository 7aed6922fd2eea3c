"""What the tests need of Markdown: fenced blocks, tables under headings, links."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCUMENTS = (
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
)

_FENCE = re.compile(r"^```(\w*)\s*$")
_HEADING = re.compile(r"^#+ (.*)$")
_LINK = re.compile(r"\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the line of the document that it begins on."""

    language: str
    text: str
    line: int

    @property
    def path(self) -> str | None:
        """The file that the block is, where its first line is a comment with a path."""
        match = re.match(r"# (\S+\.(?:py|yaml))$", self.text.partition("\n")[0])
        return match[1] if match else None

    def commands(self) -> Iterator[str]:
        """The command lines of a shell block, continuation lines joined."""
        for line in self.text.replace("\\\n", " ").splitlines():
            if line.strip():
                yield line.strip()


def blocks(document: Path) -> list[Block]:
    """All fenced blocks of a document, in order."""
    found: list[Block] = []
    inside: tuple[str, int, list[str]] | None = None
    for number, line in enumerate(document.read_text(encoding="utf-8").splitlines(), start=1):
        fence = _FENCE.match(line)
        if fence and inside is None:
            inside = (fence[1], number + 1, [])
        elif fence and inside is not None:
            language, first, lines = inside
            found.append(Block(language, "\n".join(lines) + "\n", first))
            inside = None
        elif inside is not None:
            inside[2].append(line)
    assert inside is None, f"{document.name}: a block is not closed"
    return found


def tables(document: Path) -> dict[str, list[list[str]]]:
    """The rows of all tables by the heading that they stand under, header lines left out."""
    found: dict[str, list[list[str]]] = {}
    heading = ""
    lines = prose(document)
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if match := _HEADING.match(line):
            heading = match[1].replace("`", "")
        is_header = after.startswith("| ---")
        if line.startswith("| ") and not line.startswith("| ---") and not is_header:
            cells = line.strip().removeprefix("|").removesuffix("|").split("|")
            found.setdefault(heading, []).append([cell.strip() for cell in cells])
    return found


def prose(document: Path) -> list[str]:
    """The lines of a document outside its fenced blocks."""
    lines: list[str] = []
    inside = False
    for line in document.read_text(encoding="utf-8").splitlines():
        if _FENCE.match(line):
            inside = not inside
        elif not inside:
            lines.append(line)
    return lines


def links(document: Path) -> list[str]:
    """The targets of all links and pictures."""
    return [target for line in prose(document) for target in _LINK.findall(line)]


def anchors(document: Path) -> set[str]:
    """What the headings of a document are called in links."""
    headings = (match[1] for line in prose(document) if (match := _HEADING.match(line)))
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}
