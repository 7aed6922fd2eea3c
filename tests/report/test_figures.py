"""Figures on the page: all text is escaped for Plotly, which reads a little HTML."""

import json
from typing import Any

import numpy as np
import pytest

from unshortcut.measuring.plots import PALETTE, color, model_colors
from unshortcut.report.figures import figure_json

COLORS = model_colors(["first", "second"])


def shown(trace: dict[str, Any], layout: dict[str, Any] | None = None) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(
        figure_json({"data": [trace], "layout": layout or {}}, COLORS)
    )
    return content


def test_names_are_escaped_wherever_they_stand() -> None:
    name = "<b>&</b>"
    figure = shown(
        {"name": name, "x": [name], "text": name, "customdata": [[name, 1]]},
        {"xaxis": {"title": {"text": name}, "ticktext": [name]}, "annotations": [{"text": name}]},
    )
    escaped = "&lt;b&gt;&amp;&lt;/b&gt;"
    trace, layout = figure["data"][0], figure["layout"]
    assert trace == {"name": escaped, "x": [escaped], "text": escaped, "customdata": [[escaped, 1]]}
    assert layout["xaxis"] == {"title": {"text": escaped}, "ticktext": [escaped]}
    assert layout["annotations"] == [{"text": escaped}]


def test_templates_keep_their_own_tags_and_no_others() -> None:
    trace = shown({"hovertemplate": '%{x}<br><b>%{y:.1%}</b><a href="x">a</a><extra></extra>'})
    kept = '%{x}<br><b>%{y:.1%}</b>&lt;a href="x"&gt;a&lt;/a&gt;<extra></extra>'
    assert trace["data"][0]["hovertemplate"] == kept


def test_formats_of_numbers_stay() -> None:
    assert shown({}, {"yaxis": {"tickformat": ">.0%"}})["layout"]["yaxis"]["tickformat"] == ">.0%"


def test_a_line_feed_is_a_new_line() -> None:
    assert shown({}, {"title": "a\n<b"})["layout"]["title"] == "a<br>&lt;b"


def test_numbers_of_any_kind_are_plain_and_those_that_are_none_null() -> None:
    numbers = [1, np.int64(2), np.float32(0.5), float("nan"), np.inf, True, None]
    trace = shown({"y": numbers, "z": np.eye(2)})["data"][0]
    assert trace == {"y": [1, 2, 0.5, None, None, True, None], "z": [[1.0, 0.0], [0.0, 1.0]]}


def test_the_json_cannot_leave_its_element() -> None:
    text = figure_json({"data": [{"name": "</script><!--\u2028"}], "layout": {}}, COLORS)
    assert not set("<>\u2028") & set(text)


def test_long_labels_are_shortened_unless_they_would_be_the_same() -> None:
    long, other = "a" * 30 + "bc" + "d" * 30, "a" * 30 + "xx" + "d" * 30
    alone = shown({"x": [long, "e"]})["data"][0]["x"]
    assert alone == ["a" * 12 + "…" + "d" * 11, "e"]
    assert shown({"x": [long, other]})["data"][0]["x"] == [long, other]


def test_what_no_figure_can_hold_is_an_error() -> None:
    with pytest.raises(TypeError, match="a figure cannot hold a set"):
        figure_json({"data": [{"x": {1, 2}}], "layout": {}}, COLORS)


def test_models_have_the_colors_of_their_places_and_names_that_look_like_one_stay() -> None:
    own = color("second")
    lines = [{"line": {"color": own}}, {"line": {"color": "#888"}}]
    figure = shown({"marker": {"color": own}, "name": own}, {"shapes": lines})
    assert figure["data"][0] == {"marker": {"color": PALETTE[1]}, "name": own}
    assert figure["layout"]["shapes"] == [{"line": {"color": PALETTE[1]}}, lines[1]]
