"""The documentation site: added pages, rewritten links, and the check of what was built."""

from pathlib import Path

import pytest
import yaml

from tests.docs.markdown import DOCUMENTS, ROOT
from tests.docs.site.check import problems
from tests.docs.site.pages import (
    FROM_THE_ROOT,
    gallery,
    linked_files,
    pages,
    pictures,
    recipe_table,
    rewritten,
)
from unshortcut.recipes.catalog import list_recipes


def test_links_of_the_readme_lead_to_pages_of_the_site() -> None:
    text = "[a](docs/audit.md#models), [b](../README.md), [c](LICENSE), ![d](docs/pictures/x.png)"
    assert (
        rewritten(text) == "[a](audit.md#models), [b](index.md), [c](LICENSE), ![d](pictures/x.png)"
    )
    assert "](docs/" not in pages()["index.md"]
    assert {"LICENSE", "examples/quickstart.ipynb"} <= set(linked_files())


def test_every_recipe_is_in_the_table_with_the_numbers_of_its_rows() -> None:
    lines = recipe_table().splitlines()
    names = {line.split("`")[1] for line in lines if line.startswith("| `")}
    assert names == set(list_recipes())
    (row,) = (line for line in lines if line.startswith("| `moco-v2-imagenet` |"))
    assert "| ImageNet-1K |" in row and "MoCo V2 (voc\\_ap50 82.4, voc\\_ap 57" in row
    assert {line.count(" | ") for line in lines if line.startswith("| `")} == {3}


def test_every_picture_is_in_the_gallery_once() -> None:
    shown = {path for document in DOCUMENTS for path in pictures(document)}
    assert "pictures/shapes.png" in shown
    assert all(gallery().count(f"]({path})") == 1 for path in shown)


def test_every_page_of_the_navigation_exists() -> None:
    settings = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Loader=_Plain)
    listed = [name for part in settings["nav"] for name in _names(part)]
    known = {*pages(), *(path.name for path in (ROOT / "docs").glob("*.md"))}
    assert set(listed) <= known and len(listed) == len(set(listed))
    assert set(FROM_THE_ROOT.values()) <= set(listed)
    assert settings["theme"]["font"] is False


class _Plain(yaml.SafeLoader):
    """Reads the settings without the function that MkDocs makes of one of them."""


_Plain.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: suffix)


def _names(part: object) -> list[str]:
    if isinstance(part, dict):
        return [name for value in part.values() for name in _names(value)]
    return [name for one in part for name in _names(one)] if isinstance(part, list) else [str(part)]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('<a href="b.html#here">b</a> <a href="https://example.org">out</a>', None),
        ('<a href="c.html">c</a>', "a.html leads to c.html, which does not exist"),
        ('<a href="b.html#gone">b</a>', "a.html leads to b.html#gone, which has no such anchor"),
        ('<a href="#gone">b</a>', "a.html leads to #gone, which has no such anchor"),
        ('<img src="x.png">', "a.html leads to x.png, which does not exist"),
        ('<img src="data:image/png;base64,AA">', None),
        ('<script src="https://example.org/x.js"></script>', "fetches https://example.org/x.js"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "fetches //example.org/x.css"),
        ('<link rel="canonical" href="https://example.org/">', None),
    ],
)
def test_the_check_finds_broken_links_and_requests(
    tmp_path: Path, body: str, problem: str | None
) -> None:
    (tmp_path / "a.html").write_text(body)
    (tmp_path / "b.html").write_text('<h2 id="here">Here</h2>')
    found = list(problems(tmp_path))
    assert len(found) == (problem is not None)
    assert problem is None or problem in found[0]
