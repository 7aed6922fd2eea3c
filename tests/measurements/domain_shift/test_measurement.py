"""Domain shift of models whose decisions are planted in their images."""

from dataclasses import replace

import numpy as np
import pytest

from tests.measuring.made import arrays
from tests.measuring.planted import deciding, planted, reader
from unshortcut.auditing.result_cache import from_json, to_json
from unshortcut.data.source import ImageSource
from unshortcut.intervals import wilson
from unshortcut.measurements.domain_shift import DomainShift
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.exhibits import Note, Pictures, Plot, Table
from unshortcut.measuring.shift_accuracy import EXAMPLES, DomainShiftResult
from unshortcut.measuring.subjects.subject import Subject

HEAD = ("cat", "dog", "eel", "fox")


def _nothing(done: int, total: int) -> None:
    return


def _subject(data: ImageSource, shifts: dict[str, ImageSource], **more: object) -> Subject:
    return reader(data, HEAD, shifts=shifts, **more)  # type: ignore[arg-type]


def _data() -> ImageSource:
    """Right on all but the last of two images of each class."""
    return arrays(deciding([0, 0, 1, 1, 2, 2, 3, 0], 4), [0, 0, 1, 1, 2, 2, 3, 3], HEAD)


def _measured(**shifts: ImageSource) -> DomainShiftResult:
    return DomainShift().measure(_subject(_data(), shifts), _nothing)


def test_accuracy_and_drop_are_those_by_hand() -> None:
    sketch = arrays(deciding([0, 1, 0, 1, 2], 4), [0, 1, 1, 0, 2], ("cat", "dog", "eel"))
    (shift,) = _measured(sketch=sketch).shifts
    assert [each.name for each in shift.classes] == ["cat", "dog", "eel"]
    assert (shift.shifted.right, shift.shifted.num_images) == (3, 5)
    assert shift.inside is not None and shift.drop is not None
    assert (shift.inside.right, shift.inside.num_images) == (6, 6)  # of the shared classes
    assert shift.drop.value == pytest.approx(1 - 3 / 5)
    assert (shift.shifted.accuracy.low, shift.shifted.accuracy.high) == wilson(3, 5)
    assert [each.mistaken for each in shift.classes] == ["dog", "cat", ""]
    assert shift.absent == ("fox",) and shift.unmatched == ()


def test_top_5_is_that_by_hand_and_only_for_more_than_ten_classes() -> None:
    names = tuple(f"class {number:02d}" for number in range(11))
    ranked = [10.0, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]  # class 00 is likeliest, class 04 the fifth
    data = arrays(planted([ranked] * 11), list(range(11)), names)
    sketch = arrays(planted([ranked] * 12), [0, 0, *range(1, 11)], names)
    result = DomainShift().measure(reader(data, names, shifts={"sketch": sketch}), _nothing)
    (shift,) = result.shifts
    assert (shift.shifted.right, shift.shifted.top5, shift.shifted.num_images) == (2, 6, 12)
    assert shift.inside is not None and (shift.inside.right, shift.inside.top5) == (1, 5)
    metrics = DomainShift().metrics(result, None)
    assert metrics["shift_top5_sketch"].value == pytest.approx(6 / 12)
    table = next(
        one for one in DomainShift().exhibits({"m": result}, None) if isinstance(one, Table)
    )
    titles = [column.title for column in table.columns]
    assert table.rows[0][titles.index("Top-5 on the shift")] == pytest.approx(6 / 12)
    assert from_json(DomainShiftResult, to_json(result)) == result
    few = arrays(deciding([0, 1], 4), [0, 1], ("cat", "dog"))
    assert "shift_top5_few" not in DomainShift().metrics(_measured(few=few), None)


def test_decisions_are_among_the_shared_classes_on_both_sides() -> None:
    # The fox is likeliest, and not among the classes of the shift: the next one counts.
    logits = [[5.0, 0.0, 0.0, 10.0], [0.0, 5.0, 0.0, 10.0]]
    data = arrays(planted([*logits, [0.0, 0.0, 0.0, 10.0]]), [0, 1, 3], HEAD)
    sketch = arrays(planted(logits), [0, 1], ("cat", "dog"))
    (shift,) = DomainShift().measure(_subject(data, {"sketch": sketch}), _nothing).shifts
    assert shift.inside is not None
    assert (shift.inside.right, shift.inside.num_images) == (2, 2)
    assert (shift.shifted.right, shift.shifted.num_images) == (2, 2)


def test_names_are_matched_by_the_outputs_that_speak_for_them() -> None:
    shift_names = ("fish", "hound", "unicorn")
    mapping = {"hound": ["dog"], "fish": ["2"]}
    art = arrays(deciding([2, 1, 0], 4), [0, 1, 2], shift_names)
    subject = reader(_data(), HEAD, mapping, shifts={"art": art})
    (shift,) = DomainShift().measure(subject, _nothing).shifts
    assert [each.name for each in shift.classes] == ["dog", "eel"]
    assert (shift.shifted.right, shift.shifted.num_images) == (2, 2)
    assert shift.unmatched == ("unicorn",)


def test_a_shift_that_cannot_be_measured_has_its_reason_and_the_others_go_on() -> None:
    sketch = arrays(deciding([0, 1], 4), [0, 1], ("cat", "dog"))
    plain = arrays(deciding([0, 1], 4))
    strange = arrays(deciding([0, 1], 4), [0, 1], ("cat", "<i>yak</i>"))
    result = _measured(plain=plain, strange=strange, sketch=sketch)
    assert [bool(one.reason) for one in result.shifts] == [True, True, False]
    assert "no labels" in result.shifts[0].reason
    assert "fewer than two in common" in result.shifts[1].reason
    assert DomainShift().metrics(result, None)["shift_accuracy"].value == 1.0
    notes = [one for one in DomainShift().exhibits({"m": result}, None) if isinstance(one, Note)]
    assert [note.warning for note in notes] == [True, True, False]
    with pytest.raises(NotApplicable, match="plain: it has no labels"):
        _measured(plain=plain)


def test_without_labels_in_the_data_the_shift_stands_alone() -> None:
    sketch = arrays(deciding([0, 1, 1], 4), [0, 1, 0], ("cat", "dog"))
    subject = _subject(arrays(deciding([0, 1], 4)), {"sketch": sketch})
    result = DomainShift().measure(subject, _nothing)
    metrics = DomainShift().metrics(result, None)
    assert metrics["shift_accuracy_sketch"].value == pytest.approx(2 / 3)
    assert set(metrics) == {"shift_accuracy", "shift_accuracy_sketch"}
    assert result.shifts[0].alone == "the data has no labels"
    assert DomainShift().finding(result) is None
    assert len(DomainShift().exhibits({"m": result}, None)) == 5


def test_the_head_decides_where_a_linear_probe_does_not_know_the_classes() -> None:
    data = arrays(deciding([0, 1], 4), [0, 1], ("round", "square"))
    sketch = arrays(deciding([0, 1], 4), [0, 1], ("cat", "dog"))
    subject = _subject(data, {"sketch": sketch})
    assert subject.classifier is not None
    probe = replace(subject.classifier, kind="linear", classes=("round", "square"))
    subject = replace(subject, classifier=probe, head=subject.classifier)
    (shift,) = DomainShift().measure(subject, _nothing).shifts
    assert shift.alone == "it shares fewer than two classes with the data"
    assert (shift.shifted.right, shift.shifted.num_images) == (2, 2)


def test_metrics_have_plain_names_and_means_over_shifts() -> None:
    good = arrays(deciding([0, 1, 2, 3], 4), [0, 1, 2, 3], HEAD)
    bad = arrays(deciding([1, 0, 3, 3], 4), [0, 1, 2, 3], HEAD)
    result = DomainShift().measure(
        _subject(_data(), {"Sketch-1": good, "sketch 1": bad, "素描": good}), _nothing
    )
    metrics = DomainShift().metrics(result, None)
    assert metrics["shift_accuracy_sketch_1"].value == 1.0
    assert metrics["shift_accuracy_sketch_1_2"].value == 0.25
    assert metrics["shift_accuracy_shift"].value == 1.0
    assert metrics["shift_accuracy"].value == pytest.approx(0.75)
    assert metrics["shift_drop"].value == pytest.approx(7 / 8 - 0.75)
    assert metrics["shift_drop_sketch_1_2"].value == pytest.approx(7 / 8 - 0.25)
    assert from_json(DomainShiftResult, to_json(result)) == result


def test_examples_are_the_same_images_for_all_models() -> None:
    labels = np.arange(40) % 4
    source = arrays(deciding(labels.tolist(), 4), labels, HEAD)
    wrong = arrays(deciding((labels[::-1]).tolist(), 4), labels, HEAD)
    (right_one,), (wrong_one,) = _measured(a=source).shifts, _measured(a=wrong).shifts
    assert len(right_one.examples) == EXAMPLES
    assert {one.mark for one in right_one.examples} == {"good"}
    assert {one.caption for one in right_one.examples} == {f"{name} (100 %)" for name in HEAD}
    assert [one.caption.split(" (")[0] for one in right_one.examples] == [
        one.caption.split(", label ")[1] for one in wrong_one.examples
    ]
    assert {one.mark for one in wrong_one.examples} == {"bad"}


def test_the_page_shows_models_side_by_side() -> None:
    sketch = arrays(deciding([0, 1], 4), [0, 1], ("cat", "dog"))
    art = arrays(deciding([0, 1, 2, 3], 4), [0, 1, 2, 3], HEAD)
    both, one = _measured(sketch=sketch, art=art), _measured(sketch=sketch)
    shown = DomainShift().exhibits({"first": both, "second": one}, None)
    plot = next(each for each in shown if isinstance(each, Plot))
    groups = ["the data, classes of sketch", "sketch", "the data, classes of art", "art"]
    assert list(plot.figure["data"][0]["x"]) == groups
    assert np.isnan(plot.figure["data"][1]["y"][3])
    for table in shown:
        if isinstance(table, Table):
            assert all(len(row) == len(table.columns) for row in table.rows)
    (pictures,) = (each for each in shown if isinstance(each, Pictures))
    assert [title for title, _ in pictures.rows] == [
        "sketch: first",
        "sketch: second",
        "art: first",
    ]


def test_the_largest_certain_loss_is_told() -> None:
    labels = np.arange(100) % 4
    data = arrays(deciding(labels.tolist(), 4), labels, HEAD)
    half = np.where(np.arange(100) < 55, labels, (labels + 1) % 4)
    sketch = arrays(deciding(half.tolist(), 4), labels, HEAD)
    subject = _subject(data, {"art": data, "sketch": sketch})
    finding = DomainShift().finding(DomainShift().measure(subject, _nothing))
    assert finding is not None
    assert finding.text == "loses 45 points of accuracy on sketch (from 100 % to 55 %)"
    assert (
        DomainShift().finding(DomainShift().measure(_subject(data, {"art": data}), _nothing))
        is None
    )
