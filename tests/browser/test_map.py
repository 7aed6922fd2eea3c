"""The map in a real browser: hovering, choosing, zooming, filtering; by pointer, touch and keys."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from tests.browser.test_page import PHONE, watch
from tests.report.example import HOSTILE
from tests.report.maps import CLASSES, COLORS, COUNT, example_map

if TYPE_CHECKING:  # only `make test-browser` installs it
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser
DESKTOP = (1200, 800)
MAP = "#map > canvas"
DRAWN = example_map(total=1234)
on_both = pytest.mark.parametrize("page", [DESKTOP, PHONE], ids=["desktop", "phone"], indirect=True)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("map") / "map.html"
    DRAWN.write(path)
    return path


@pytest.fixture
def page(browser: "Browser", file: Path, request: pytest.FixtureRequest) -> Iterator["Page"]:
    """A map opened from disk; afterwards there must be no errors, requests or dialogs."""
    width, height = getattr(request, "param", DESKTOP)
    context = browser.new_context(
        viewport={"width": width, "height": height}, has_touch=width == PHONE[0]
    )
    page = context.new_page()
    seen = watch(page)
    page.goto(file.as_uri())
    page.wait_for_function(f"document.querySelector('{MAP}').dataset.zoom == 1")
    yield page
    context.close()
    assert seen.errors == [] and seen.dialogs == []
    assert {one for one in seen.requests if not one.startswith(("data:", "blob:"))} == {
        file.as_uri()
    }


def camera(page: "Page") -> tuple[float, float, float]:
    """The place in the middle of the canvas, and how many pixels the map is wide."""
    page.wait_for_timeout(60)  # the next frame
    state = page.locator(MAP).evaluate("one => ({...one.dataset})")
    return float(state["x"]), float(state["y"]), float(state["unit"])


def place(page: "Page", index: int) -> tuple[float, float]:
    """Where an image is on the screen."""
    x, y, unit = camera(page)
    box = page.locator(MAP).bounding_box()
    assert box is not None
    left, top = DRAWN.positions[index].tolist()
    return (
        box["x"] + box["width"] / 2 + (left - x) * unit,
        box["y"] + box["height"] / 2 + (top - y) * unit,
    )


def chosen(page: "Page") -> str:
    """The name of the chosen image."""
    return page.locator("#chosen .one .name").inner_text()


def pixels(page: "Page", *places: tuple[float, float]) -> list[tuple[int, int, int]]:
    """The colors at some places on the screen."""
    page.wait_for_timeout(60)
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    found: list[tuple[int, int, int]] = [
        shot.getpixel((round(x), round(y)))  # type: ignore[misc]
        for x, y in places
    ]
    return found


def middle(page: "Page") -> tuple[float, float]:
    """The middle of the map, where there is no image."""
    (left, top), (right, bottom) = place(page, 0), place(page, COUNT // 2)
    return (left + right) / 2, (top + bottom) / 2


def background(page: "Page") -> tuple[int, int, int]:
    return pixels(page, middle(page))[0]


def test_every_image_is_a_point_in_the_color_of_its_class(page: "Page") -> None:
    colors = pixels(page, *(place(page, index) for index in range(COUNT)))
    inner = [colors[index] for index in range(COUNT) if index % (COUNT // len(CLASSES)) > 1]
    assert len(set(inner)) == len(CLASSES)
    assert background(page) not in colors


def test_hovering_shows_the_thumbnail_the_class_and_the_name_as_text(page: "Page") -> None:
    card = page.locator(".hover")
    for index in (0, 31, 59):
        page.mouse.move(*place(page, index))
        page.wait_for_function(
            "name => document.querySelector('.hover .name').textContent === name",
            arg=DRAWN.identities[index],
        )
        assert card.locator("b").inner_text() == CLASSES[DRAWN.labels[index][0]]
        box, around = card.bounding_box(), page.locator(MAP).bounding_box()
        assert box is not None and around is not None
        (shown,) = pixels(page, (box["x"] + 30, box["y"] + 30))
        assert np.abs(np.array(shown) - COLORS[index]).max() < 12
        assert box["x"] + box["width"] <= around["x"] + around["width"] + 1
        assert box["y"] + box["height"] <= around["y"] + around["height"] + 1
    page.mouse.move(5, 5)
    assert not card.is_visible()


def test_a_click_shows_the_nearest_neighbors_and_one_leads_to_its_own(page: "Page") -> None:
    page.mouse.click(*place(page, 10))
    assert chosen(page) == DRAWN.identities[10]
    near = page.locator("#chosen .near button")
    titles = near.evaluate_all("all => all.map(one => one.title)")
    assert titles == [DRAWN.identities[row] for row in DRAWN.neighbors[10]]
    assert near.first.locator("small").inner_text().endswith(f"{DRAWN.cosines[10, 0]:.3f}")
    near.nth(2).click()
    assert chosen(page) == DRAWN.identities[DRAWN.neighbors[10, 2]]
    page.mouse.click(*middle(page))
    assert page.locator("#chosen .one").count() == 0


def test_neighbors_of_another_class_are_marked(page: "Page") -> None:
    last_red = COUNT // len(CLASSES) - 1
    page.mouse.click(*place(page, last_red))
    marks = page.locator("#chosen .near li").evaluate_all("all => all.map(one => one.className)")
    same = [DRAWN.labels[row] == DRAWN.labels[last_red] for row in DRAWN.neighbors[last_red]]
    assert marks == ["good" if one else "bad" for one in same] and len(set(marks)) == 2
    assert f"{sum(same)} of 4 have its class" in page.locator("#chosen").inner_text()


def test_the_legend_filters_classes(page: "Page") -> None:
    entries = page.locator(".classes .legend button")
    assert entries.count() == len(CLASSES)
    assert HOSTILE[0] in entries.nth(3).inner_text()
    shown = place(page, COUNT // 8), place(page, COUNT - COUNT // 8)
    page.mouse.click(*shown[0])
    entries.first.press("Enter")
    assert entries.first.get_attribute("aria-pressed") == "false"
    assert page.locator("#chosen .one").count() == 0
    empty = background(page)
    assert [one == empty for one in pixels(page, *shown)] == [True, False]
    page.mouse.click(*shown[0])
    assert page.locator("#chosen .one").count() == 0
    page.get_by_role("button", name="None").click()
    assert pixels(page, *shown) == [empty, empty]
    page.get_by_role("button", name="All", exact=True).click()
    assert empty not in pixels(page, *shown)


def test_scrolling_zooms_at_the_pointer_and_dragging_moves(page: "Page") -> None:
    before, start = camera(page), place(page, 20)
    page.mouse.move(*start)
    page.mouse.wheel(0, -400)
    zoomed, there = camera(page), place(page, 20)
    assert zoomed[2] > 1.5 * before[2]
    assert there == pytest.approx(start, abs=1.5)
    page.mouse.down()
    page.mouse.move(start[0] - 90, start[1] - 30, steps=4)
    page.mouse.up()
    assert place(page, 20) == pytest.approx((start[0] - 90, start[1] - 30), abs=2)
    assert page.locator("#chosen .one").count() == 0
    page.get_by_role("button", name="Show all").click()
    assert camera(page) == before


def test_near_enough_and_on_request_points_are_pictures(page: "Page") -> None:
    drawn_first = min(range(COUNT), key=lambda index: (index + 1) * 0x9E3779B1 % 2**32)

    def inside() -> tuple[int, int, int]:
        """The color beside the point that is drawn first, where its picture would be."""
        (x, y), (left, top) = place(page, drawn_first), DRAWN.positions[drawn_first]
        return pixels(page, (x + 28 * (0.5 - left), y + 28 * (0.5 - top)))[0]

    empty = background(page)
    assert inside() == empty
    page.get_by_role("button", name="Show pictures").click()
    assert np.abs(np.array(inside()) - COLORS[drawn_first]).max() < 12
    page.get_by_role("button", name="Show pictures").click()
    assert inside() == empty
    page.mouse.move(*place(page, drawn_first))
    for _ in range(3):
        page.mouse.wheel(0, -500)
    page.mouse.move(5, 5)
    assert np.abs(np.array(inside()) - COLORS[drawn_first]).max() < 12


def test_keys_go_from_image_to_image_and_zoom(page: "Page") -> None:
    page.locator(MAP).focus()
    page.mouse.click(*place(page, 0))  # the rightmost, at the middle of the height
    page.keyboard.press("ArrowDown")
    assert chosen(page) == DRAWN.identities[1]
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert chosen(page) == DRAWN.identities[COUNT - 1]
    before = camera(page)
    page.keyboard.press("+")
    zoomed = camera(page)
    assert zoomed[2] == pytest.approx(1.6 * before[2])
    page.keyboard.press("Shift+ArrowRight")
    assert camera(page)[0] > zoomed[0]
    page.keyboard.press("0")
    assert camera(page) == before
    page.keyboard.press("Escape")
    assert page.locator("#chosen .one").count() == 0


@pytest.mark.parametrize("page", [PHONE], ids=["phone"], indirect=True)
def test_fingers_choose_move_and_pinch(page: "Page") -> None:
    page.touchscreen.tap(*place(page, 30))
    assert chosen(page) == DRAWN.identities[30]
    before, start = camera(page), place(page, 30)
    session = page.context.new_cdp_session(page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        session.send(
            "Input.dispatchTouchEvent",
            {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]},
        )

    x, y = start
    touch("touchStart", (x + 40, y))
    touch("touchMove", (x + 60, y + 20))
    touch("touchMove", (x + 80, y + 40))
    touch("touchEnd")
    assert place(page, 30) == pytest.approx((x + 40, y + 40), abs=2)
    x, y = place(page, 30)
    touch("touchStart", (x - 15, y), (x + 15, y))
    for apart in (20, 30, 40, 60):
        touch("touchMove", (x - apart, y), (x + apart, y))
    touch("touchEnd")
    assert camera(page)[2] == pytest.approx(4 * before[2], rel=0.1)
    assert place(page, 30) == pytest.approx((x, y), abs=12)


@on_both
def test_nothing_is_wider_than_the_screen_and_dark_is_dark(page: "Page") -> None:
    page.mouse.click(*place(page, 30))
    page.locator("summary").click()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.evaluate("scrollTo(0, 0)")
    page.emulate_media(color_scheme="light")
    ring = place(page, 30)[0] + 11, place(page, 30)[1]
    (light,) = pixels(page, ring)
    page.locator("#theme").click()
    (dark,) = pixels(page, ring)
    assert sum(light) < 200 < 500 < sum(dark)


def test_a_notebook_shows_it_in_a_frame(browser: "Browser", tmp_path: Path) -> None:
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!doctype html><meta charset=utf-8>{DRAWN._repr_html_()}", "utf-8")
    page = browser.new_page()
    seen = watch(page)
    page.goto(notebook.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator(MAP).focus()
    page.keyboard.press("ArrowRight")
    assert frame.locator("#chosen .near button").count() == 4
    assert seen.errors == []
    page.close()
