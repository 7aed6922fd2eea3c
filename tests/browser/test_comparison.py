"""The page of a comparison in a real browser: it draws, names models on hovering, and no more."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.test_page import DESKTOP, PHONE, watch
from tests.report.audits import BIAS, SKETCH, model, write_audit
from tests.report.example import IMAGE, SCRIPT
from unshortcut.report.model_comparison import compare

if TYPE_CHECKING:  # only `make test-browser` installs it
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser
MODELS = {
    SCRIPT: model(0.1, 0.15),
    "timm:resnet50": model(0.22, 0.2),
    IMAGE: model(0.4, 0.3),
    "runs/patch": model(0.61, 0.38),
    "runs/diffused": model(0.8, 0.36),
}


@pytest.fixture
def page(browser: "Browser", tmp_path: Path, request: pytest.FixtureRequest) -> Iterator["Page"]:
    """A page opened from disk; afterwards there must be no errors, requests or dialogs."""
    width, height = getattr(request, "param", DESKTOP)
    path = tmp_path / "compare.html"
    compare(write_audit(tmp_path / "audit.json", MODELS), BIAS, SKETCH, out=path)
    context = browser.new_context(viewport={"width": width, "height": height})
    page = context.new_page()
    seen = watch(page)
    page.goto(path.as_uri())
    page.locator("svg.main-svg").first.wait_for()
    yield page
    context.close()
    assert seen.errors == [] and seen.dialogs == []
    assert {one for one in seen.requests if not one.startswith(("data:", "blob:"))} == {
        path.as_uri()
    }


def test_points_are_labeled_and_hovering_shows_model_and_values(page: "Page") -> None:
    assert page.locator(".scatterlayer .points path").count() == len(MODELS)
    labels = page.locator(".scatterlayer .textpoint").all_text_contents()
    assert set(labels) >= {SCRIPT, "timm:resnet50", "runs/patch"}
    for at, name in enumerate(MODELS):
        page.locator(".scatterlayer .points path").nth(at).hover(force=True)
        page.wait_for_function(
            "name => document.querySelector('.hovertext')?.textContent.includes(name)", arg=name
        )
    shown = (page.locator(".hovertext").text_content() or "").replace("\N{NO-BREAK SPACE}", " ")
    assert "Shape bias: 80.0 % (78.0 to 83.0)" in shown and "Accuracy on sketch: 36.0 %" in shown
    assert page.locator(".plot a").count() == 0


def test_the_table_is_sorted_by_a_click(page: "Page") -> None:
    page.locator("th button", has_text="Accuracy on sketch").click()
    values = page.locator("td:nth-child(5)").all_inner_texts()
    assert values in (sorted(values), sorted(values, reverse=True))


@pytest.mark.parametrize("page", [DESKTOP, PHONE], ids=["desktop", "phone"], indirect=True)
def test_nothing_is_wider_than_the_screen(page: "Page") -> None:
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    narrow = page.evaluate("innerWidth") == PHONE[0]
    assert (page.locator(".scatterlayer .textpoint text").count() == 0) == narrow
