"""Comparing models of several audits: which are compared, what is said of them, and the page."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

import unshortcut
from tests.report.audits import BIAS, MCE, SKETCH, model, write_audit
from tests.report.example import GOOD, HOSTILE, PLAIN, findings
from tests.report.parsed import parsed
from tests.report.test_page import texts
from unshortcut.errors import UsageError
from unshortcut.measuring.correlation import pearson, spearman
from unshortcut.report.model_comparison import compare
from unshortcut.report.report import Report
from unshortcut.report.scatter import place_labels, scatter

FIVE = {
    "a": model(0.2, 0.11),
    "b": model(0.3, 0.35),
    "c": model(0.4, 0.30),
    "d": model(0.5, 0.52),
    "e": model(0.7, 0.45),
}


@pytest.fixture
def five(tmp_path: Path) -> Path:
    return write_audit(tmp_path / "five.json", FIVE)


def test_models_of_all_files_are_points_with_their_values_and_intervals(
    five: Path, tmp_path: Path
) -> None:
    other = write_audit(tmp_path / "other.json", {"f": model(0.25, 0.2)})
    found = unshortcut.compare([five, other], BIAS, SKETCH)
    assert [point.model for point in found.points] == [*FIVE, "f"]
    point = found.points[-1]
    assert (point.x.value, point.y.value, point.audit) == (0.25, 0.2, "other.json")
    assert (point.x.low, point.x.high) == pytest.approx((0.23, 0.28))
    xs, ys = [[one.x.value for one in found.points], [one.y.value for one in found.points]]
    assert found.pearson == pearson(xs, ys) and found.spearman == spearman(xs, ys)
    assert found.warnings == [] and found.page is None


def test_the_values_can_be_written_as_json(five: Path) -> None:
    found = json.loads(json.dumps(compare(five, BIAS, SKETCH).to_dict(), allow_nan=False))
    assert found["x"] == {"name": BIAS, "label": "Shape bias", "percent": True}
    assert found["points"][0]["model"] == "a" and found["points"][0]["y"]["value"] == 0.11
    assert found["pearson"]["low"] < found["pearson"]["value"] < found["pearson"]["high"]
    few = compare(five, BIAS, BIAS).to_dict()["pearson"]
    assert few["low"] is None and "perfect" in few["reason"]


def test_models_without_a_metric_are_left_out_and_named(tmp_path: Path) -> None:
    path = write_audit(
        tmp_path / "some.json", {**FIVE, "blind": model(0.5), "nan": model(0.5, **{SKETCH: None})}
    )
    found = compare(path, BIAS, SKETCH)
    assert len(found.points) == 5
    assert found.left_out == {"blind": (SKETCH,), "nan": (SKETCH,)}
    assert found.warnings == [f"Left out, without {SKETCH}: blind, nan."]


def test_the_same_name_twice_is_numbered_and_labels_replace_names(
    five: Path, tmp_path: Path
) -> None:
    again = write_audit(tmp_path / "again.json", {"a": model(0.9, 0.8)})
    found = compare([five, again], BIAS, SKETCH, labels={"a (2)": "mine"})
    assert [point.model for point in found.points] == [*FIVE, "mine"]
    with pytest.raises(UsageError, match="unknown model 'a \\(3\\)'; did you mean 'a \\(2\\)'"):
        compare([five, again], BIAS, SKETCH, labels={"a (3)": "mine"})


def test_audits_of_other_images_are_told_apart(five: Path, tmp_path: Path) -> None:
    other = write_audit(tmp_path / "other.json", {"f": model(0.2, 0.2)}, data="/home/me/photos")
    (warning,) = compare([five, other], BIAS, SKETCH).warnings
    assert "different images" in warning and "other.json: photos (1,000 images)" in warning


def test_an_unknown_metric_is_answered_with_the_nearest_and_all(five: Path) -> None:
    with pytest.raises(UsageError, match=f"did you mean '{BIAS}'.* Known: {BIAS}, {SKETCH}"):
        compare(five, "shape_bais", SKETCH)


def test_metrics_that_no_model_has_together_are_refused(tmp_path: Path) -> None:
    one = write_audit(tmp_path / "one.json", {"a": model(0.4)})
    two = write_audit(tmp_path / "two.json", {"a": model(None, 0.4)})
    with pytest.raises(UsageError, match=f"no model has both {BIAS} and {SKETCH}"):
        compare([one, two], BIAS, SKETCH)


@pytest.mark.parametrize(
    "content", ["", "[1, 2]", '{"metrics": {"val": {"accuracy": 3}}}', '{"metrics": {"models": 3}}']
)
def test_a_file_that_is_no_audit_is_refused_in_one_sentence(content: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content)
    with pytest.raises(UsageError, match="is not the result of an audit") as raised:
        compare(path, BIAS, SKETCH)
    assert "\n" not in str(raised.value)
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        compare(tmp_path / "nowhere.json", BIAS, SKETCH)


def test_reports_are_compared_without_a_file() -> None:
    found = compare(Report(findings(only=("shape_bias", "corruptions"))), BIAS, MCE)
    assert [point.model for point in found.points][:2] == [GOOD, PLAIN]
    assert found.points[0].x.value == 0.24 and found.points[0].y.value == pytest.approx(76)
    assert found.x.label == "Shape bias" and found.x.percent and not found.y.percent
    assert found.left_out == {"broken.onnx": (BIAS, MCE)}


def test_the_page_has_points_table_and_correlation_and_fetches_nothing(
    five: Path, tmp_path: Path
) -> None:
    found = compare(five, BIAS, SKETCH, out=tmp_path / "page.html")
    assert found.page == tmp_path / "page.html"
    page = found.page.read_text(encoding="utf-8")
    elements = parsed(page)
    assert "Shape bias and accuracy on sketch" in texts(elements, "h1")
    (r, rank) = (one for one in texts(elements, "li") if "correlation" in one)
    assert f"{found.pearson.value:.2f} (95 % interval" in r.replace("\N{NO-BREAK SPACE}", " ")
    assert f"{found.spearman.value:.2f}" in rank
    (data,) = (one for one in elements if one.attributes.get("type") == "application/json")
    line, points = json.loads(data.text)["data"]
    assert points["x"] == [one.x.value for one in found.points] and len(line["x"]) == 2
    assert texts(elements, "td")[:2] == ["a", "20.0 % 18.0 to 23.0"]
    (policy,) = (one.attributes["content"] for one in elements if "http-equiv" in one.attributes)
    assert policy.startswith("default-src 'none';")
    fetched = {one.attributes.get(key, "#") for one in elements for key in ("src", "href")}
    assert all(one.startswith(("#", "data:")) for one in fetched)
    assert str(tmp_path) not in page
    assert "unshortcut compare five.json --x shape_bias --y" in texts(elements, "pre")[0]


def test_hostile_names_are_text(tmp_path: Path) -> None:
    names = {name: model(0.1 * at, 0.2) for at, name in enumerate(HOSTILE, start=1)}
    found = compare(write_audit(tmp_path / "x.json", names), BIAS, SKETCH)
    elements = parsed(found.html())
    for name in HOSTILE:
        assert " ".join(name.split()) in texts(elements, "td")
    assert not any(key.startswith("on") for one in elements for key in one.attributes)
    (data,) = (one for one in elements if one.attributes.get("type") == "application/json")
    (points,) = json.loads(data.text)["data"]  # no line: all values of y are equal
    assert points["hovertext"][0].startswith("&lt;script&gt;")


def test_the_line_is_that_of_least_squares(five: Path) -> None:
    found = compare(five, BIAS, SKETCH)
    line, points = scatter(found.points, line=True)["data"]
    xs, ys = np.array(points["x"]), np.array(points["y"])
    slope = ((xs - xs.mean()) * (ys - ys.mean())).sum() / ((xs - xs.mean()) ** 2).sum()
    drawn = (line["y"][1] - line["y"][0]) / (line["x"][1] - line["x"][0])
    assert drawn == pytest.approx(slope)
    assert len(scatter(found.points, line=False)["data"]) == 1


def test_labels_cover_neither_points_nor_each_other() -> None:
    random = np.random.default_rng(0)
    points = random.uniform([40, 20], [840, 410], (20, 2))
    names = [f"timm:model-{at}" for at in range(20)]
    placed = place_labels(points, names)
    assert sum(bool(one) for one in placed) >= 16
    boxes = {at: label_box(points[at], names[at], one) for at, one in enumerate(placed) if one}
    for at, (left, bottom, right, top) in boxes.items():
        for other, (x, y) in enumerate(points.tolist()):
            assert other == at or not (left < x < right and bottom < y < top)
        for other, (left2, bottom2, right2, top2) in boxes.items():
            apart = right <= left2 or right2 <= left or top <= bottom2 or top2 <= bottom
            assert other == at or apart


def label_box(point: np.ndarray, name: str, position: str) -> tuple[float, float, float, float]:
    """Left, bottom, right and top of a label whose letters are 7 pixels wide."""
    vertical, horizontal = position.split()
    width, (x, y) = 7 * len(name), point.tolist()
    left = {"left": x - 6 - width, "center": x - width / 2, "right": x + 6}[horizontal]
    bottom = {"bottom": y - 6 - 17, "middle": y - 17 / 2, "top": y + 6}[vertical]
    return left, bottom, left + width, bottom + 17


def test_a_label_without_room_is_left_out() -> None:
    assert place_labels(np.array([[400.0, 200.0]]), ["one"]) == ["top center"]
    crowd = place_labels(np.full((20, 2), 300.0), ["a-long-name-of-a-model"] * 20)
    assert 1 <= sum(bool(one) for one in crowd) <= 8


def test_a_terminal_shows_values_and_correlations(five: Path) -> None:
    from rich.console import Console

    console = Console(width=120, color_system=None)
    with console.capture() as capture:
        console.print(compare(five, BIAS, SKETCH))
    text = capture.get().replace("\N{NO-BREAK SPACE}", " ")
    assert re.search(r"b +30.0 % +35.0 %", text) and re.search(r"28.0 to 33.0", text)
    assert re.search(r"Pearson correlation: 0\.\d\d \(95 % interval", text)
    assert not math.isnan(compare(five, BIAS, SKETCH).pearson.value)
