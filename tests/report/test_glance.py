"""The top of the page: axes with positions or reasons, marks that do not overlap, pictures."""

from dataclasses import replace

import pytest

from tests.report.example import GOOD, IMAGE, MODELS, PLAIN, SCRIPT, findings
from tests.report.parsed import parsed
from unshortcut.auditing.findings import Entry
from unshortcut.measuring.glance import AxisMark
from unshortcut.report.glance import glance, place_marks
from unshortcut.report.page import render


def test_each_model_has_a_row_on_each_axis_with_its_value_and_interval() -> None:
    first, second = glance(findings()).axes
    assert first.measurement == "shape_bias" and first.top == 0 < second.top
    assert {one.model: one.text for one in first.positions} == {
        GOOD: "24\N{NO-BREAK SPACE}% (21 to 27)",
        PLAIN: "61\N{NO-BREAK SPACE}% (58 to 64)",
        MODELS[2]: "81\N{NO-BREAK SPACE}% (78 to 84)",
    }  # and none for the model that could not be opened
    assert len({one.color for one in first.positions}) == 3
    assert second.bottom > second.top > first.bottom


def test_a_model_without_a_result_is_shown_as_missing() -> None:
    known = findings()
    entries = {**known.entries["shape_bias"], GOOD: Entry("failed", reason="no memory")}
    axis = glance(replace(known, entries={**known.entries, "shape_bias": entries})).axes[0]
    assert (axis.positions[0].estimate, axis.positions[0].text) == (None, "failed")
    assert axis.positions[1].estimate is not None and axis.nothing == ""


def test_an_axis_that_nobody_has_a_position_on_says_so_once() -> None:
    assert glance(findings()).axes[1].nothing == "not measured"  # for several reasons
    known = findings(models=(GOOD,))
    assert glance(known).axes[1].nothing == "not measured: an ONNX file has no gradients"


def test_pictures_have_a_row_per_model_and_a_text_where_there_is_none() -> None:
    pictures = glance(findings()).pictures
    assert pictures is not None and pictures.columns == ("decided by texture",)
    assert [model for model, _ in pictures.rows] == list(MODELS)
    (with_picture,), (without,) = pictures.rows[0][1], pictures.rows[1][1]
    assert with_picture.source.startswith("data:image/") and with_picture.caption == IMAGE
    assert (without.source, without.caption) == ("", "no conflict decided by texture")


def test_without_contributions_the_page_begins_with_the_verdicts() -> None:
    known = findings(only=("neighbors",))
    assert glance(known).axes == () and glance(known).pictures is None
    assert not any(one.tag == "svg" for one in parsed(render(known)))


def test_the_picture_comes_before_any_table_and_is_described_in_words() -> None:
    elements = parsed(render(findings()))
    tags = [one.tag for one in elements]
    assert tags.index("svg") < tags.index("table")
    picture = elements[tags.index("svg")]
    assert picture.attributes["role"] == "img"
    words = next(one.text for one in elements if one.tag == "desc")
    assert f"From texture (0 %) to shape (100 %), decisions by shape: {GOOD} 24" in words.replace(
        "\N{NO-BREAK SPACE}", " "
    )
    assert "humans" in words and "patch" in words


def test_hostile_names_of_marks_and_models_are_text() -> None:
    elements = parsed(render(findings()))
    labels = [one.text for one in elements if one.tag == "text"]
    assert SCRIPT in labels and any("…" in one for one in labels)


@pytest.mark.parametrize(("name", "marked"), [("timm:resnet18@random", True), (GOOD, False)])
def test_an_untrained_model_is_a_mark_for_the_others(name: str, marked: bool) -> None:
    axis = glance(findings(models=(PLAIN, name))).axes[0]
    values = {one.name: one.value for one in axis.marks}
    assert ("untrained" in values) is marked
    assert not marked or values["untrained"] == 0.61


def test_labels_of_marks_do_not_overlap_and_the_last_go_without() -> None:
    marks = [AxisMark("humans", 0.96), AxisMark("ResNet-50", 0.22), AxisMark("AlexNet", 0.25)]
    first, second, third = place_marks(marks)
    assert (first.line, first.anchor) == (0, "end")
    assert (second.line, second.anchor) == (0, "middle")
    assert third.line == 1
    assert place_marks([*marks, AxisMark("ViT", 0.23)])[-1].line is None
    assert place_marks([AxisMark("nothing", 0.0)])[0].anchor == "start"
