"""The page as text: its content, its order, and that hostile names do no harm."""

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import replace

import pytest
from plotly.offline import get_plotlyjs

from tests.report.example import (
    COLOR_NOTE,
    GOOD,
    HOSTILE,
    IMAGE,
    MODELS,
    PLAIN,
    SCRIPT,
    ShapeBias,
    Shares,
    findings,
)
from tests.report.parsed import Element, parsed
from unshortcut.auditing.findings import Entry
from unshortcut.measurements.measurement import Finding
from unshortcut.measuring.exhibits import Exhibit, Plot
from unshortcut.measuring.plots import PALETTE
from unshortcut.report.page import render
from unshortcut.report.shell import DIGITS


@pytest.fixture(scope="module")
def page() -> str:
    return render(findings())


@pytest.fixture(scope="module")
def elements(page: str) -> list[Element]:
    return parsed(page)


def texts(elements: list[Element], tag: str, kind: str = "") -> list[str]:
    return [
        " ".join(one.text.split())
        for one in elements
        if one.tag == tag and (not kind or kind in one.classes)
    ]


def test_the_verdict_comes_first_and_graver_ones_are_heavier(elements: list[Element]) -> None:
    verdicts = [one for one in elements if one.tag == "li" and "ul" in one.parents]
    said = {" ".join(one.text.split()): one.classes for one in verdicts[:4]}
    text = f"{GOOD} decides mostly by texture, and loses 41 points under noise."
    assert said[text] == ["grave"]
    assert said[f"{PLAIN} decides mostly by texture."] == ["notable"]
    assert said["broken.onnx could not be audited: not an ONNX file."] == ["light"]
    first_table = next(index for index, one in enumerate(elements) if one.tag == "table")
    assert elements.index(verdicts[0]) < first_table


def test_tables_name_the_models_where_there_are_several(elements: list[Element]) -> None:
    assert texts(elements, "th").count("Model") == 2


def test_models_are_compared_with_intervals_and_the_best_marked(elements: list[Element]) -> None:
    start = next(at for at, one in enumerate(elements) if one.attributes.get("id") == "comparison")
    after = elements[start:]
    cells = [one for one in after if one.tag == "td" and "number" in one.classes][:4]
    shown = [(" ".join(one.text.split()), "best" in one.classes) for one in cells]
    assert shown == [
        ("24.0 %1 21.0 to 27.0", False),
        ("61.0 % 58.0 to 64.0", False),
        ("81.0 % 78.0 to 84.0", True),
        ("–", False),
    ]
    notes = [one.text for one in after if one.attributes.get("id", "").startswith("note-")]
    assert notes == ["Of 812 decisions only.", COLOR_NOTE]


def test_footnotes_stand_once_at_the_end_and_are_referred_to_from_every_table(
    elements: list[Element],
) -> None:
    numbers = [one for one in elements if one.tag == "a" and "sup" in one.parents]
    assert {one.attributes["href"] for one in numbers} == {"#note-1", "#note-2"}
    assert {one.attributes["title"] for one in numbers} == {"Of 812 decisions only.", COLOR_NOTE}
    assert [one.text for one in numbers].count("1") == 2  # in the comparison, in its section
    at = next(at for at, one in enumerate(elements) if one.attributes.get("id") == "notes")
    assert all(elements.index(one) < at for one in numbers)


def test_what_is_no_warning_is_folded_beside_the_definition(elements: list[Element]) -> None:
    remark = "A model that knows neither cue has a shape bias all the same: see the coverage."
    (found,) = [one for one in elements if one.tag == "p" and one.text == remark]
    assert "details" in found.parents
    warnings = [one for one in elements if "warning" in one.classes]
    assert warnings and not any("details" in one.parents for one in warnings)


def test_every_measurement_has_its_status_in_the_contents(elements: list[Element]) -> None:
    assert texts(elements, "span", "status") == ["done", "failed", "done", "done", "failed"]


def test_what_failed_and_what_does_not_apply_is_said_with_its_reason(
    elements: list[Element],
) -> None:
    missing = texts(elements, "p", "missing")
    assert f"not applicable {GOOD}, {MODELS[2]}: an ONNX file has no gradients" in missing
    assert f"failed {PLAIN}: RuntimeError: no layer {SCRIPT}" in missing
    assert any(f"ValueError: no class is called {SCRIPT}" in text for text in missing)


def test_each_measurement_gives_the_command_that_makes_it_again(elements: list[Element]) -> None:
    commands = texts(elements, "pre", "command")
    assert commands == [
        *(
            f"unshortcut audit run 'b c' --data shapes --only {name}"
            for name in ("shape_bias", "saliency", "corruptions", "neighbors", "broken")
        ),
        "unshortcut audit run 'b c' --data shapes --only shape_bias",
    ]


def test_seconds_are_told_and_whether_they_were_spent_now(elements: list[Element]) -> None:
    took = texts(elements, "p", "took")[0]
    assert took.startswith(f"Measured in 0.3 s ({GOOD}); 1 min 17 s ({PLAIN}), in an earlier")


def test_hostile_names_are_text_and_start_nothing(elements: list[Element]) -> None:
    cells = texts(elements, "td")
    for name in HOSTILE:
        assert " ".join(name.split()) in cells
    for one in elements:
        assert not any(key.startswith("on") for key in one.attributes), one
        assert "javascript:" not in one.attributes.get("href", "")
        if one.tag == "svg" and "svg" not in one.parents:
            assert one.classes == ["stands"]  # the page's own picture
        if one.tag == "img":
            assert one.attributes.get("src", "data:image/").startswith("data:image/")


def decoded85(text: str) -> bytes:
    """Five digits at a time, by the definition of a number in base 85."""
    value = {digit: number for number, digit in enumerate(DIGITS)}
    found = bytearray()
    for at in range(0, len(text), 5):
        number = 0
        for digit in text[at : at + 5]:
            number = 85 * number + value[digit]
        found += number.to_bytes(4, "big")
    return bytes(found)


def test_only_the_scripts_of_the_page_may_run(elements: list[Element]) -> None:
    (policy,) = (one.attributes["content"] for one in elements if "http-equiv" in one.attributes)
    assert policy.startswith("default-src 'none';")
    scripts = [one for one in elements if one.tag == "script"]
    running = [one for one in scripts if "type" not in one.attributes]
    hashes = {
        f"'sha256-{base64.b64encode(hashlib.sha256(one.text.encode()).digest()).decode()}'"
        for one in running
    }
    (packed,) = (one.text for one in scripts if one.attributes.get("id") == "plotly")
    assert not set(packed) & set("<>&")
    compressed = decoded85(packed[1:])
    unpacked = zlib.decompress(compressed[: len(compressed) - int(packed[0])])
    assert unpacked.decode() == get_plotlyjs()
    hashes.add(f"'sha256-{base64.b64encode(hashlib.sha256(unpacked).digest()).decode()}'")
    (allowed,) = (part for part in policy.split("; ") if part.startswith("script-src"))
    assert set(allowed.split()[1:]) == hashes
    kinds = {one.attributes.get("type") for one in scripts}
    assert kinds == {None, "application/json", "application/octet-stream"}


def test_figures_are_json_that_holds_the_names(elements: list[Element]) -> None:
    (first, *_) = (one.text for one in elements if "type" in one.attributes and one.tag == "script")
    names = json.loads(first)["data"][0]["x"]
    assert names[2] == "&lt;script&gt;aler…1)&lt;/script&gt;"


def test_a_model_keeps_its_color_where_another_has_failed() -> None:
    known = findings()
    entries = {**known.entries["shape_bias"], GOOD: Entry("failed", reason="no memory")}
    fewer = replace(known, entries={**known.entries, "shape_bias": entries})
    figures = [
        json.loads(one.text)["data"]
        for one in parsed(render(fewer))
        if one.attributes.get("type") == "application/json"
    ]
    bars, lines = figures[0], figures[1]
    assert len(bars) == 2 and bars[0]["name"] == PLAIN
    assert [one["marker"]["color"] for one in bars] == list(PALETTE[1:3])
    assert [one["line"]["color"] for one in lines[::3]] == list(PALETTE[:3])


def test_warnings_are_told_as_text(elements: list[Element]) -> None:
    (box,) = (one for one in elements if "warnings" in one.classes)
    assert box.tag == "details" and "open" in box.attributes
    said = [one.text for one in elements if one.tag == "li" and "details" in one.parents]
    assert said == ["3 images cannot be read: cat/a.jpg", f"{IMAGE}.jpg cannot be read"]


def test_many_warnings_are_folded_and_none_are_not_there() -> None:
    def boxes(*warnings: str) -> list[Element]:
        page = render(replace(findings(only=("neighbors",)), warnings=warnings))
        return [one for one in parsed(page) if "warnings" in one.classes]

    (many,) = boxes("a", "b", "c", "d")
    assert "open" not in many.attributes
    assert boxes() == []


def test_pictures_say_the_file_and_on_hovering_its_folders(elements: list[Element]) -> None:
    captions = [one for one in elements if one.tag == "figcaption" and "title" in one.attributes]
    titles = {one.attributes["title"] for one in captions if one.text == "0001.png"}
    assert titles == {"val/cat/0001.png"}


def test_without_plots_the_page_is_small() -> None:
    page = render(findings(only=("neighbors",)))
    assert len(page) < 200_000
    assert "Plotly" not in page


def test_the_same_findings_give_the_same_page(page: str) -> None:
    assert render(findings()) == page
    assert "/somewhere" not in page


def test_one_model_is_not_compared() -> None:
    elements = parsed(render(findings(models=(GOOD,), only=("shape_bias",))))
    assert texts(elements, "h1") == ["What does this model look at?"]
    assert texts(elements, "th").count("Model") == 1  # in the table of models; others leave it out
    assert not any("best" in one.classes for one in elements)


class Unspeakable(ShapeBias):
    def finding(self, result: Shares) -> Finding | None:
        raise KeyError("no finding")

    def exhibits(self, results: Mapping[str, Shares], baseline: Shares | None) -> list[Exhibit]:
        return [Plot("of nothing", {"data": [{"x": [object()]}], "layout": {}})]


def test_a_measurement_that_cannot_speak_does_not_silence_the_rest() -> None:
    known = findings()
    broken = replace(known, measurements={**known.measurements, "shape_bias": Unspeakable()})
    elements = parsed(render(broken))
    assert texts(elements, "span", "status") == ["failed", "failed", "done", "done", "failed"]
    assert any("a figure cannot hold a object" in one for one in texts(elements, "p", "missing"))
    assert any("has no verdict: KeyError" in one for one in texts(elements, "li"))


def test_a_file_name_that_is_no_unicode_can_be_written() -> None:
    page = render(findings(models=(MODELS[0], "na\udce9me")))
    assert b"na\\udce9me" in page.encode()
