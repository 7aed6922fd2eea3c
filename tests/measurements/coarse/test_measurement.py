"""Coarse against fine on models whose decisions are planted in their images."""

import pytest

from tests.measuring.made import arrays
from tests.measuring.planted import deciding, reader
from unshortcut.auditing.result_cache import from_json, to_json
from unshortcut.measurements.coarse import Coarse
from unshortcut.measurements.coarse.accuracy import CoarseClass, CoarseResult
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.exhibits import Note, Table

HEAD = ("beagle", "pug", "tabby", "van")
HIERARCHY = {"beagle": "dog", "pug": "dog", "tabby": "cat"}


def _nothing(done: int, total: int) -> None:
    return


def _measured(decisions: list[int], labels: list[int], classes: tuple[str, ...]) -> CoarseResult:
    source = arrays(deciding(decisions, 4), labels, classes)
    return Coarse().measure(reader(source, HEAD, hierarchy=HIERARCHY), _nothing)


def test_images_of_classes_without_a_kind_are_left_out_and_told() -> None:
    result = _measured([0, 1, 2, 3, 3], [0, 0, 0, 0, 3], HEAD)
    assert (result.images, result.fine_right, result.coarse_right) == (4, 1, 2)
    assert result.choices == 4 and result.missing == ("van",)
    notes = [one for one in Coarse().exhibits({"m": result}, None) if isinstance(one, Note)]
    assert "lacks 1 of the data's classes: van" in notes[0].text
    metrics = Coarse().metrics(result, None)
    assert set(metrics) == set(Coarse.gives)
    assert metrics["fine_accuracy"].value == 0.25 and metrics["coarse_accuracy"].value == 0.5
    assert metrics["errors_within_coarse"].value == pytest.approx(1 / 3)
    assert from_json(CoarseResult, to_json(result)) == result


def test_data_of_dogs_alone_may_be_taken_for_cats() -> None:
    result = _measured([0, 1, 2], [0, 0, 1], ("beagle", "pug"))
    assert (result.fine_right, result.coarse_right, result.choices) == (1, 2, 3)


def test_a_hierarchy_of_other_classes_does_not_apply() -> None:
    source = arrays(deciding([2, 3], 4), [0, 1], ("tabby", "van"))
    with pytest.raises(NotApplicable, match="none of the data's classes"):
        Coarse().measure(reader(source, HEAD, hierarchy={"beagle": "dog"}), _nothing)


def test_one_kind_for_all_does_not_apply() -> None:
    source = arrays(deciding([0, 1], 4), [0, 1], ("beagle", "pug"))
    kinds = {"beagle": "dog", "pug": "dog"}
    with pytest.raises(NotApplicable, match="are of the coarse class 'dog'"):
        Coarse().measure(reader(source, HEAD, hierarchy=kinds), _nothing)


def test_tables_have_a_cell_for_every_column() -> None:
    result = _measured([0, 1, 2, 2], [0, 0, 0, 2], HEAD)
    shown = Coarse().exhibits({"one": result, "two": result}, None)
    for table in shown:
        if isinstance(table, Table):
            assert all(len(row) == len(table.columns) for row in table.rows)


def test_errors_across_kinds_are_told() -> None:
    def finding(within: int) -> str:
        group = CoarseClass("dog", 3, 100, 50, 50 + within, 50)
        found = Coarse().finding(CoarseResult((group,), 0.5, 5, ()))
        return "" if found is None else found.text

    assert finding(20).startswith("errs across kinds: 40 % of its errors stay inside")
    assert finding(45) == "knows the kind better than the class (95 % against 50 %)"
