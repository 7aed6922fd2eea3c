"""Confidence of models whose logits are planted in their images."""

import math

import numpy as np
import pytest
from sklearn.metrics import top_k_accuracy_score

from tests.measuring.made import arrays
from tests.measuring.planted import planted, reader
from unshortcut.auditing.result_cache import from_json, to_json
from unshortcut.measurements.confidence import Confidence
from unshortcut.measuring.calibration import (
    ConfidenceResult,
    confidence_of,
    where_all_are_right,
)
from unshortcut.measuring.exhibits import Note, Plot, Table

NAMES = ("cat", "dog", "<b>eel</b>")


def _nothing(done: int, total: int) -> None:
    return


def _result(
    probabilities: list[list[float]], labels: list[int], **changes: object
) -> ConfidenceResult:
    metadata: dict[str, object] = {"total": 9, "outputs": 3, "kind": "head"} | changes
    index = metadata.pop("index", np.arange(len(labels)))
    return confidence_of(np.array(probabilities), np.array(labels), index, **metadata)  # type: ignore[arg-type]


def test_a_model_is_measured_on_its_images() -> None:
    logits = [[4.0, 0.0, 0.0], [0.0, 8.0, 0.0], [0.0, 10.0, 0.0], [2.0, 2.0, 4.0]]
    images = planted(logits)
    source = arrays(images, [0, 1, 2, 2], NAMES)
    result = Confidence().measure(reader(source, NAMES), _nothing)
    seen = images[:, 0, :3, 0] / 255 * 10.0
    odds = np.exp(seen)
    probabilities = odds / odds.sum(axis=1, keepdims=True)
    assert result.right == (True, True, False, True)
    assert result.confidences == pytest.approx(probabilities.max(axis=1), abs=1e-5)
    metrics = Confidence().metrics(result, None)
    assert set(metrics) == {*Confidence.gives} - {"top5_accuracy"}  # three classes are too few
    assert metrics["accuracy"].value == 0.75 and metrics["accuracy"].headline
    assert metrics["sure_errors"].value == 1.0
    right = probabilities[[0, 1, 3]]
    assert metrics["confidence_right"].value == pytest.approx(right.max(axis=1).mean(), abs=1e-5)
    nats = -(right * np.log(right)).sum(axis=1).mean()
    assert metrics["entropy_right"].value == pytest.approx(nats, abs=1e-5)
    assert to_json(from_json(ConfidenceResult, to_json(result))) == to_json(result)


def test_top_5_is_given_for_more_than_ten_classes() -> None:
    rng = np.random.default_rng(0)
    probabilities, labels = rng.dirichlet(np.ones(12), 200), rng.integers(12, size=200)
    result = _result(probabilities.tolist(), labels.tolist())
    expected = top_k_accuracy_score(labels, probabilities, k=5, labels=range(12))
    top5 = Confidence().metrics(result, None)["top5_accuracy"]
    assert top5.value == pytest.approx(expected) and top5.headline
    table = Confidence().exhibits({"m": result}, None)[0]
    assert isinstance(table, Table) and table.columns[2].title == "Top-5"
    assert table.rows[0][2] == pytest.approx(expected)
    assert to_json(from_json(ConfidenceResult, to_json(result))) == to_json(result)
    # A model that gives all probability to one class has no other four.
    sure = _result(np.eye(12)[labels].tolist(), ((labels + 1) % 12).tolist())
    assert Confidence().metrics(sure, None)["top5_accuracy"].value == 0


def test_models_are_joined_where_all_are_right() -> None:
    one = _result([[0.9, 0.1, 0.0], [0.8, 0.1, 0.1], [0.2, 0.7, 0.1]], [0, 0, 0])
    # Another model saw the images 1, 2 and 7 and is right on all.
    other = _result(
        [[0.6, 0.4, 0.0], [0.5, 0.3, 0.2], [1.0, 0.0, 0.0]], [0, 0, 0], index=np.array([1, 2, 7])
    )
    found = where_all_are_right({"one": one, "other": other})
    assert [each.num_images for each in found.values()] == [1, 1]  # image 1 alone
    assert found["one"].confidence.value == pytest.approx(0.8)
    assert found["other"].confidence.value == pytest.approx(0.6)
    nats = -(0.6 * math.log(0.6) + 0.4 * math.log(0.4))
    assert found["other"].entropy.value == pytest.approx(nats, abs=1e-6)


def test_a_model_without_errors_or_without_right_answers_has_its_figures() -> None:
    perfect = _result([[1.0, 0.0, 0.0]] * 3, [0, 0, 0])
    hopeless = _result([[1.0, 0.0, 0.0]] * 3, [1, 1, 1])
    assert perfect.calibration_error == 0.0 and math.isnan(perfect.sure_errors.value)
    assert hopeless.calibration_error == 1.0 and math.isnan(hopeless.confidence_right.value)
    for result in (perfect, hopeless):
        metrics = Confidence().metrics(result, None)
        assert metrics["accuracy"].low is not None
        Confidence().exhibits({"one": result, "two": result}, None)
    assert where_all_are_right({"a": perfect, "b": hopeless})["a"].num_images == 0


def test_the_page_has_tables_plots_with_counts_and_notes() -> None:
    result = _result(
        [[0.96, 0.04], [0.95, 0.05], [0.3, 0.7]], [0, 1, 1], outputs=1000, kind="linear"
    )
    shown = Confidence().exhibits({"one": result, "two": result}, None)
    tables = [one for one in shown if isinstance(one, Table)]
    assert [table.title for table in tables][1] == "Where all models are right"
    assert all(len(row) == len(table.columns) for table in tables for row in table.rows)
    reliability = next(one for one in shown if isinstance(one, Plot)).figure["data"][1]
    assert list(reliability["y"]) == pytest.approx([1.0, 0.5])
    assert [list(pair) for pair in reliability["customdata"]] == [[1, 1], [1, 2]]
    notes = " ".join(one.text for one in shown if isinstance(one, Note))
    assert "one, two: the confidence is that of the classifier fitted on the features" in notes
    assert "only the 2 classes of the data are used, out of 1000" in notes


def test_sure_errors_of_a_head_are_told() -> None:
    sure, unsure = [0.95, 0.05], [0.6, 0.4]
    many = _result([sure] * 10 + [unsure] * 20, [1] * 30)
    finding = Confidence().finding(many)
    assert finding is not None
    assert finding.text.startswith("is confident even when it is wrong: 33 % of its errors")
    assert Confidence().finding(_result([sure] * 4 + [unsure] * 26, [1] * 30)) is None
    assert Confidence().finding(_result([sure] * 30, [1] * 30, kind="knn")) is None


def test_a_model_without_any_skill_is_told() -> None:
    finding = Confidence().finding(_result([[0.6, 0.4]] * 30, [0, 1] * 15))
    assert finding is not None
    assert finding.text == "has an accuracy of 50 %, no better than chance among 2 classes"
    assert Confidence().finding(_result([[0.6, 0.4]] * 30, [0] * 30)) is None


def test_probabilities_of_other_outputs_do_not_count() -> None:
    # The head has three classes and the data two: what is left is scaled to 1.
    source = arrays(planted([[4.0, 0.0, 10.0]] * 4), [0, 0, 1, 1], NAMES[:2])
    result = Confidence().measure(reader(source, NAMES), _nothing)
    assert result.num_classes == 2 and result.num_outputs == 3
    assert result.confidence.value == pytest.approx(1 / (1 + math.exp(-4.0)), abs=1e-3)
