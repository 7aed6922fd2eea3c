"""The filter of rows in the documentation site: words narrow the tables down, empty ones go."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.test_page import watch
from tests.docs.markdown import ROOT

if TYPE_CHECKING:  # only `make test-browser` installs it
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser
SCRIPT = (ROOT / "docs" / "site" / "filter.js").read_text(encoding="utf-8")
STYLE = (ROOT / "docs" / "site" / "site.css").read_text(encoding="utf-8")
PAGE = """<!doctype html><meta charset="utf-8"><style>{style}</style>
<article class="md-typeset"><h1>Tables</h1>
<h3>First</h3><p>About the first.</p>
<table><thead><tr><th>row</th></tr></thead><tbody>
<tr><td>MoCo on ImageNet</td></tr><tr><td>MoCo on CIFAR</td></tr></tbody></table>
<h3>Second</h3><p>About the second.</p>
<table><thead><tr><th>row</th></tr></thead><tbody><tr><td>BYOL on ImageNet</td></tr></tbody></table>
</article><script>{script}</script>"""


def test_words_narrow_the_tables_down(browser: "Browser", tmp_path: Path) -> None:
    file = tmp_path / "papers.html"
    file.write_text(PAGE.format(style=STYLE, script=SCRIPT), encoding="utf-8")
    page = browser.new_page()
    seen = watch(page)
    page.goto(file.as_uri())
    box = page.get_by_role("searchbox")
    assert page.locator(".row-count").inner_text() == "3 of 3 rows"
    box.fill("imagenet MOCO")
    assert page.locator("td:visible").all_inner_texts() == ["MoCo on ImageNet"]
    assert page.locator("h3:visible").all_inner_texts() == ["First"]
    assert not page.get_by_text("About the second.").is_visible()
    box.fill("nothing")
    assert page.locator("table:visible").count() == 0
    assert page.locator(".row-count").inner_text() == "0 of 3 rows"
    box.fill("")
    assert page.locator("td:visible").count() == 3 and page.locator("h3:visible").count() == 2
    page.goto(f"{file.as_uri()}?rows=byol")
    assert page.locator("td:visible").all_inner_texts() == ["BYOL on ImageNet"]
    assert seen.errors == []
    page.close()


def test_other_pages_have_no_box(browser: "Browser", tmp_path: Path) -> None:
    file = tmp_path / "audit.html"
    file.write_text(PAGE.format(style=STYLE, script=SCRIPT), encoding="utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    assert page.locator("input").count() == 0
    page.close()
