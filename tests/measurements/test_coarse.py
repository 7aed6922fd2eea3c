"""Coarse and fine accuracy against counts by hand, and of models with planted decisions."""

import math

import numpy as np
import pytest

from tests.measuring.made import arrays
from tests.measuring.planted import deciding, reader
from unshortcut.auditing.result_cache import from_json, to_json
from unshortcut.measurements.coarse import (
    Coarse,
    CoarseClass,
    CoarseResult,
    choices,
    coarse_accuracy,
)
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.exhibits import Note, Table

KINDS = ("dog", "dog", "dog", "cat")
HEAD = ("beagle", "pug", "tabby", "van")
HIERARCHY = {"beagle": "dog", "pug": "dog", "tabby": "cat"}


def test_counts_are_those_by_hand() -> None:
    probabilities = np.array(
        [
            [0.7, 0.1, 0.1, 0.1],  # right
            [0.2, 0.6, 0.1, 0.1],  # another dog
            [0.2, 0.2, 0.2, 0.4],  # a cat, and yet dogs have more together
            [0.1, 0.0, 0.0, 0.9],  # right
            [0.9, 0.0, 0.0, 0.1],  # a dog
        ]
    )
    result = coarse_accuracy(probabilities, np.array([0, 0, 0, 3, 3]), KINDS)
    dog, cat = result.groups
    assert (dog.name, dog.num_classes, dog.num_images) == ("dog", 3, 3)
    assert (dog.fine_right, dog.coarse_right, dog.summed_right) == (1, 2, 3)
    assert (cat.fine_right, cat.coarse_right, cat.summed_right) == (1, 1, 1)
    total = result.total
    assert (total.num_errors, total.coarse_right - total.fine_right) == (3, 1)
    # Two of three other classes are dogs for the two dogs, none of them is a cat for the cat.
    assert result.within_by_chance == pytest.approx((2 / 3 + 2 / 3 + 0) / 3)


def test_a_decision_outside_the_hierarchy_is_wrong_in_every_sense() -> None:
    probabilities = np.array([[0.4, 0.0, 0.6, 0.0], [0.3, 0.1, 0.25, 0.35]])
    result = coarse_accuracy(probabilities, np.array([0, 0]), ("dog", "dog", None, None))
    assert (result.total.fine_right, result.total.coarse_right) == (0, 0)
    assert result.total.summed_right == 1  # the two without a kind are not one kind


def test_without_errors_nothing_is_inside() -> None:
    result = coarse_accuracy(np.eye(4), np.arange(4), KINDS)
    assert result.total.num_errors == 0 and math.isnan(result.within_by_chance)


def test_choices_are_the_datas_classes_and_others_that_the_head_can_name() -> None:
    source = arrays(deciding([0, 1], 4), [0, 1], ("beagle", "dalmatian"))
    mapping = {"dalmatian": ["spotted dog"]}
    subject = reader(source, ("beagle", "spotted dog", "tabby", "van"), mapping)
    assert subject.classifier is not None
    hierarchy = {"spotted dog": "dog", "beagle": "dog", "tabby": "cat", "unicorn": "horse"}
    outputs, coarse = choices(subject.classifier, subject.classes, hierarchy)
    # `spotted dog` is the data's `dalmatian`, the unicorn is unknown, the van has no kind.
    assert outputs.names == ("beagle", "dalmatian", "tabby")
    assert outputs.members == ((0,), (1,), (2,))
    assert coarse == ("dog", "dog", "cat")


def _nothing(done: int, total: int) -> None:
    return


def _measured(decisions: list[int], labels: list[int], classes: tuple[str, ...]) -> CoarseResult:
    source = arrays(deciding(decisions, 4), labels, classes)
    return Coarse().measure(reader(source, HEAD, hierarchy=HIERARCHY), _nothing)


def test_images_of_classes_without_a_kind_are_left_out_and_told() -> None:
    result = _measured([0, 1, 2, 3, 3], [0, 0, 0, 0, 3], HEAD)
    total = result.total
    assert (total.num_images, total.fine_right, total.coarse_right) == (4, 1, 2)
    assert result.num_choices == 4 and result.missing == ("van",)
    notes = [one for one in Coarse().exhibits({"m": result}, None) if isinstance(one, Note)]
    assert "lacks 1 of the data's classes: van" in notes[0].text
    metrics = Coarse().metrics(result, None)
    assert set(metrics) == set(Coarse.gives)
    assert metrics["fine_accuracy"].value == 0.25 and metrics["coarse_accuracy"].value == 0.5
    assert metrics["errors_within_coarse"].value == pytest.approx(1 / 3)
    assert from_json(CoarseResult, to_json(result)) == result


def test_data_of_dogs_alone_may_be_taken_for_cats() -> None:
    result = _measured([0, 1, 2], [0, 0, 1], ("beagle", "pug"))
    assert (result.total.fine_right, result.total.coarse_right, result.num_choices) == (1, 2, 3)


def test_a_hierarchy_of_other_classes_does_not_apply() -> None:
    source = arrays(deciding([2, 3], 4), [0, 1], ("tabby", "van"))
    with pytest.raises(NotApplicable, match="none of the classes of the data"):
        Coarse().measure(reader(source, HEAD, hierarchy={"beagle": "dog"}), _nothing)


def test_one_kind_for_all_does_not_apply() -> None:
    source = arrays(deciding([0, 1], 4), [0, 1], ("beagle", "pug"))
    kinds = {"beagle": "dog", "pug": "dog"}
    with pytest.raises(NotApplicable, match="belong to 'dog'"):
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

    assert finding(20).startswith(
        "confuses dissimilar classes: only 40 % of its errors stay within"
    )
    assert finding(45) == "recognizes coarse classes better than fine ones (95 % versus 50 %)"
