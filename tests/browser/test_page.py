"""The page in a real browser: it opens from disk, draws, sorts, enlarges, runs no other code."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.report.example import CLOSING, GOOD, HOSTILE, IMAGE, LINK, SCRIPT, findings
from unshortcut.report.report import Report

if TYPE_CHECKING:  # only `make test-browser` installs it
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser
DESKTOP, PHONE = (1280, 900), (390, 844)
on_both = pytest.mark.parametrize("page", [DESKTOP, PHONE], ids=["desktop", "phone"], indirect=True)
SORTABLE = "#shape_bias .table >> nth=0"


@dataclass
class PageEvents:
    """Errors, requests and dialogs of a page."""

    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)


def watch(page: "Page") -> PageEvents:
    seen = PageEvents()
    page.on("console", lambda one: seen.errors.append(one.text))
    page.on("pageerror", lambda one: seen.errors.append(str(one)))
    page.on("request", lambda one: seen.requests.append(one.url))
    page.on("dialog", lambda one: (seen.dialogs.append(one.message), one.dismiss()))
    return seen


@pytest.fixture
def page(browser: "Browser", report: Path, request: pytest.FixtureRequest) -> Iterator["Page"]:
    """A page opened from disk; afterwards there must be no errors, requests or dialogs."""
    width, height = getattr(request, "param", DESKTOP)
    context = browser.new_context(viewport={"width": width, "height": height})
    page = context.new_page()
    seen = watch(page)
    page.goto(report.as_uri())
    yield page
    context.close()
    assert seen.errors == []
    assert seen.dialogs == []
    requests = {one for one in seen.requests if not one.startswith(("data:", "blob:"))}
    assert requests == {report.as_uri()}


def draw_all(page: "Page") -> None:
    for figure in page.locator("figure.plot").all():
        figure.scroll_into_view_if_needed()
        figure.locator("svg.main-svg").first.wait_for()


def column(page: "Page", number: int) -> list[str]:
    return page.locator(f"{SORTABLE} >> tbody td:nth-child({number})").all_inner_texts()


@on_both
def test_plots_are_drawn_when_they_come_near(page: "Page") -> None:
    assert page.locator("#corruptions svg.main-svg").count() == 0
    draw_all(page)
    assert page.locator("#shape_bias .bars .point").count() == 3 * 8
    assert page.locator("#corruptions .scatterlayer .js-line").count() == 9


@on_both
def test_nothing_is_wider_than_the_screen_and_every_table_fits(page: "Page") -> None:
    draw_all(page)
    for details in page.locator("details").all():
        details.locator("summary").click()
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0
    cut = page.evaluate(
        "[...document.querySelectorAll('.scroll:has(table)')]"
        ".map((one) => one.scrollWidth - one.clientWidth).filter((wide) => wide > 0)"
    )
    assert cut == []


@on_both
def test_the_picture_on_top_has_a_labeled_mark_per_model_within_its_width(page: "Page") -> None:
    picture = page.locator("svg.stands")
    assert picture.locator("path").count() == 3
    box = picture.bounding_box()
    assert box is not None and box["y"] < 300 and box["height"] > 150
    for text in picture.locator("text").all():
        label = text.bounding_box()
        assert label is not None
        assert (
            box["x"] - 5 <= label["x"]  # with the halo of letters
            and label["x"] + label["width"] <= box["x"] + box["width"] + 5
        )
    mark = picture.locator("path").nth(1).bounding_box()  # at 61 %
    assert mark is not None
    middle = (mark["x"] + mark["width"] / 2 - box["x"]) / box["width"]
    assert middle == pytest.approx(0.61, abs=0.01)


def test_a_picture_that_occurs_twice_is_shown_twice(page: "Page") -> None:
    same = page.locator("img[data-same]")
    assert same.count() > 0
    assert all(one.evaluate("image => image.naturalWidth") > 0 for one in same.all())


def test_a_phone_shows_each_row_of_a_table_as_a_card(browser: "Browser", report: Path) -> None:
    page = browser.new_page(viewport={"width": PHONE[0], "height": PHONE[1]})
    page.goto(report.as_uri())
    cell = page.locator(f"{SORTABLE} >> tbody td:nth-child(3)").first
    title = cell.evaluate("cell => getComputedStyle(cell, '::before').content")
    assert "Shape" in title
    first = page.locator(f"{SORTABLE} >> tbody td:nth-child(1)").first.bounding_box()
    third = cell.bounding_box()
    assert first is not None and third is not None and third["y"] > first["y"] + 10
    page.close()


def test_names_are_shown_as_they_are(page: "Page") -> None:
    draw_all(page)
    assert set(HOSTILE[:3]) <= set(column(page, 1))
    assert CLOSING.strip() in [one.strip() for one in column(page, 1)]
    captions = page.locator("#neighbors figcaption").all_inner_texts()
    assert {SCRIPT, IMAGE, LINK} <= set(captions)
    ticks = page.locator("#shape_bias .xtick text").all_text_contents()
    assert "<script>aler…1)</script>" in ticks
    assert any(one.startswith("<img src=x o…") for one in ticks)
    legend = page.locator("#shape_bias .legend button").all_inner_texts()
    assert legend[0] == GOOD
    assert legend[2].endswith('">press</a>')
    assert page.locator("a[href^='javascript']").count() == 0
    assert page.locator(".plot a").count() == 0


def test_hovering_tells_the_value_and_the_name_as_text(page: "Page") -> None:
    draw_all(page)
    bar = page.locator("#shape_bias .trace.bars").first.locator(".point").nth(2)
    bar.scroll_into_view_if_needed()
    box = bar.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.6)
    page.locator("#shape_bias .hoverlayer .hovertext").first.wait_for()
    label = page.locator("#shape_bias .hoverlayer").text_content() or ""
    assert "<script>aler…1)</script>: " in label
    assert GOOD in label


def test_a_press_in_the_legend_hides_a_model(page: "Page") -> None:
    draw_all(page)
    page.locator("#shape_bias .legend button").first.click()
    page.wait_for_function("document.querySelectorAll('#shape_bias .bars .point').length == 16")
    page.locator("#theme").click()
    page.wait_for_timeout(100)
    assert page.locator("#shape_bias .bars .point").count() == 16
    page.locator("#shape_bias .legend button").first.click()
    page.wait_for_function("document.querySelectorAll('#shape_bias .bars .point').length == 24")


def test_tables_sort_both_ways_with_dashes_last(page: "Page") -> None:
    head = page.locator(f"{SORTABLE} >> thead th").nth(1)
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    numbers = column(page, 2)
    assert numbers == ["7,075", "6,075", "5,075", "4,075", "3,075", "2,075", "1,075", "75", "–"]
    head.get_by_role("button").press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert column(page, 2) == [*numbers[-2::-1], "–"]
    assert column(page, 1)[0] == "airplane"


def test_words_sort_by_the_alphabet(page: "Page") -> None:
    button = page.locator(f"{SORTABLE} >> thead button").first
    button.click()
    words = [one for one in column(page, 1) if one[0].isalpha()]
    assert words[:3] == ["airplane", "bear", "keyboard"]
    button.press("Enter")  # plots that appear above may move the button away from a second click
    words = [one for one in column(page, 1) if one[0].isalpha()]
    assert words[-3:] == ["keyboard", "bear", "airplane"]
    heads = page.locator(f"{SORTABLE} >> thead th[aria-sort]")
    assert heads.count() == 1


@on_both
def test_pictures_enlarge_and_close(page: "Page") -> None:
    dialog = page.locator("#enlarged")
    picture = page.locator("#neighbors .pictures").nth(1).locator("button.enlarge").first
    small = picture.locator("img").bounding_box()
    assert not dialog.is_visible()
    picture.click()
    assert dialog.is_visible()
    large = dialog.locator("img").bounding_box()
    assert small is not None and large is not None and large["width"] > 2 * small["width"]
    assert dialog.locator("figcaption").inner_text() == SCRIPT
    page.keyboard.press("ArrowRight")
    assert dialog.locator("figcaption").inner_text() == f"{SCRIPT} · {IMAGE}"
    page.keyboard.press("Escape")
    assert not dialog.is_visible()
    picture.press("Enter")
    dialog.click()
    assert not dialog.is_visible()


def test_the_reader_chooses_light_or_dark_and_it_stays(page: "Page") -> None:
    def paper() -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    def ink() -> str:
        text = page.locator("#shape_bias .xtick text").first
        return str(text.evaluate("one => getComputedStyle(one).fill"))

    page.emulate_media(color_scheme="light")
    draw_all(page)
    light, light_ink = paper(), ink()
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(200)
    dark, dark_ink = paper(), ink()
    assert light != dark and light_ink != dark_ink
    page.locator("#theme").click()
    page.wait_for_timeout(200)
    assert (paper(), ink()) == (light, light_ink)
    page.reload()
    assert paper() == light


def test_the_contents_lead_to_their_parts(page: "Page") -> None:
    page.locator(".contents a", has_text="Nearest neighbors").click()
    page.wait_for_timeout(300)
    top = page.locator("#neighbors h2").bounding_box()
    assert top is not None and 0 < top["y"] < 400


def test_printing_draws_all_and_unfolds_all(page: "Page") -> None:
    opened = page.locator("details[open]").all_inner_texts()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.locator("#corruptions svg.main-svg").first.wait_for()
    assert page.locator("details:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").all_inner_texts() == opened


def test_a_notebook_shows_it_in_a_frame(browser: "Browser", tmp_path: Path) -> None:
    cell = Report(findings(only=("shape_bias", "neighbors")))._repr_html_()
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!doctype html><meta charset=utf-8><h1>Mine</h1>{cell}", "utf-8")
    page = browser.new_page()
    seen = watch(page)
    page.goto(notebook.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator(".contents a", has_text="Nearest neighbors").click()
    page.wait_for_timeout(200)
    assert frame.locator("html").evaluate("html => html.scrollTop") > 500
    frame.locator("#shape_bias figure.plot").scroll_into_view_if_needed()
    frame.locator("#shape_bias svg.main-svg").first.wait_for()
    assert seen.errors == []
    assert seen.dialogs == []
    page.close()
