"""Figures in Plotly's form: what they hold, and whose color is whose."""

from pathlib import Path

import pytest

from unshortcut.measuring.estimates import Estimate
from unshortcut.measuring.plots import (
    PALETTE,
    Bars,
    Curve,
    bars,
    chance_level,
    color,
    curves,
    model_colors,
    write_html,
)

HALF, MOST = Estimate(0.5, 0.4, 0.7), Estimate(0.9, 0.8, 0.95)


def test_a_models_color_hangs_on_its_name_and_not_on_the_others() -> None:
    alone = bars(["a"], {"second": Bars([1.0])}, "y")["data"]
    beside = bars(["a"], {"first": Bars([1.0]), "second": Bars([1.0])}, "y")["data"]
    assert alone[0]["marker"]["color"] == beside[1]["marker"]["color"] == color("second")
    assert beside[0]["marker"]["color"] != beside[1]["marker"]["color"]


def test_all_lines_of_a_model_have_its_color() -> None:
    lines = {
        "a, square": Curve.of([1, 2], [HALF, MOST], model="a"),
        "a, round": Curve.of([1, 2], [HALF, MOST], dash="dash", model="a"),
        "b": Curve([1, 2], [0.1, 0.2]),
    }
    traces = curves(lines, "x", "y")["data"]
    assert [one["line"]["color"] for one in traces] == [color("a"), color("a"), color("b")]
    assert traces[0]["error_y"]["color"] == color("a")


def test_models_get_the_palette_in_their_order() -> None:
    models = [f"model {at}" for at in range(len(PALETTE) + 1)]
    found = model_colors([*models, "na\udce9me"])
    assert [found[color(name)] for name in models] == [*PALETTE, PALETTE[0]]


def test_estimates_become_heights_with_errors() -> None:
    assert Bars.of([HALF, MOST]) == Bars([0.5, 0.9], [0.4, 0.8], [0.7, 0.95])
    (trace,) = bars(["a", "b"], {"m": Bars.of([HALF, MOST])}, "y")["data"]
    assert trace["error_y"]["array"] == pytest.approx([0.2, 0.05])
    assert trace["error_y"]["arrayminus"] == pytest.approx([0.1, 0.1])


def test_chance_is_a_level_only_if_all_models_share_it() -> None:
    assert chance_level([0.1, 0.1]) == {"chance": 0.1}
    assert chance_level([0.1, 0.2]) == {}
    figure = bars(["a"], {"m": Bars([0.4])}, "accuracy", levels={"chance": 0.1})
    (line,) = figure["layout"]["shapes"]
    assert line["y0"] == line["y1"] == 0.1
    assert figure["layout"]["annotations"][0]["text"] == "chance"


def test_a_page_has_the_colors_of_the_palette_and_no_markup_of_a_name(tmp_path: Path) -> None:
    name = "</script><b>na\udce9me"
    figure = bars(["a"], {name: Bars([0.4])}, "accuracy")
    write_html(tmp_path / "page.html", figure, [name], "One plot")
    page = (tmp_path / "page.html").read_text()
    assert PALETTE[0] in page and color(name) not in page
    assert "One plot" in page and name[:12] not in page
