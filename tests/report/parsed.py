"""A page as a browser's parser sees it: elements with their attributes and text."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = {"meta", "img", "br", "link", "input", "hr", "wbr"}


@dataclass
class Element:
    """One element, with all text inside it."""

    tag: str
    attributes: dict[str, str]
    text: str = ""
    parents: tuple[str, ...] = field(default=())

    @property
    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[Element] = []
        self.open: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        parents = tuple(one.tag for one in self.open)
        one = Element(tag, {key: value or "" for key, value in attrs}, parents=parents)
        self.found.append(one)
        if tag not in _VOID:
            self.open.append(one)

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1].tag == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for one in self.open:
            one.text += data


def parsed(page: str) -> list[Element]:
    """All elements in order. Fails where they do not nest."""
    parser = _Parser()
    parser.feed(page)
    parser.close()
    assert not parser.open
    return parser.found
