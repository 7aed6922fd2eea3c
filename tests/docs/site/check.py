"""Checks a built site: every link and anchor leads somewhere, and no page fetches from elsewhere.

`python -m tests.docs.site.check site`
"""

import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
_NO_FETCH = {"canonical", "next", "prev"}
"""Kinds of `<link>` that a browser does not fetch."""


class _Page(HTMLParser):
    """Anchors, targets of links, and addresses that a browser fetches by itself."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = {"", "__top"}
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        self.anchors |= {given[key] for key in ("id", "name") if key in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif _FETCHED.get(tag) in given and given.get("rel") not in _NO_FETCH:
            self.fetched.append(given[_FETCHED[tag]])


@cache
def _page(path: Path) -> _Page:
    return _Page(path.read_text(encoding="utf-8"))


def problems(site: Path) -> Iterator[str]:
    """What is wrong with a site, one sentence each."""
    for path in sorted(site.rglob("*.html")):
        if path.name == "404.html":  # its addresses are those of a server
            continue
        page, name = _page(path), path.relative_to(site)
        for address in page.fetched:
            parts = urlsplit(address)
            if parts.scheme not in ("", "data") or parts.netloc:
                yield f"{name} fetches {address}"
        for address in [*page.links, *page.fetched]:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = path.parent / unquote(parts.path) if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                yield f"{name} leads to {address}, which does not exist"
            elif target.suffix == ".html" and not _has_anchor(target, parts.fragment):
                yield f"{name} leads to {address}, which has no such anchor"


def _has_anchor(page: Path, fragment: str) -> bool:
    return unquote(fragment) in _page(page.resolve()).anchors


def main() -> None:
    site = Path(sys.argv[1])
    count = len(list(site.rglob("*.html")))
    found = list(problems(site))
    for problem in found:
        print(problem)
    if found or not count:
        sys.exit(f"{len(found)} problems in {count} pages of {site}")
    print(f"{count} pages of {site}: every link leads somewhere, and nothing is fetched")


if __name__ == "__main__":
    main()
