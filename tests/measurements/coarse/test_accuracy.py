"""Coarse and fine accuracy against counts by hand."""

import math

import numpy as np
import pytest

from tests.measuring.made import arrays
from tests.measuring.planted import deciding, reader
from unshortcut.measurements.coarse.accuracy import choices, coarse_accuracy

KINDS = ("dog", "dog", "dog", "cat")


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
    assert (dog.name, dog.classes, dog.images) == ("dog", 3, 3)
    assert (dog.fine_right, dog.coarse_right, dog.summed_right) == (1, 2, 3)
    assert (cat.fine_right, cat.coarse_right, cat.summed_right) == (1, 1, 1)
    assert (result.errors, result.errors_within) == (3, 1)
    # Two of three other classes are dogs for the two dogs, none of them is a cat for the cat.
    assert result.within_by_chance == pytest.approx((2 / 3 + 2 / 3 + 0) / 3)


def test_a_decision_outside_the_hierarchy_is_wrong_in_every_sense() -> None:
    probabilities = np.array([[0.4, 0.0, 0.6, 0.0], [0.3, 0.1, 0.25, 0.35]])
    result = coarse_accuracy(probabilities, np.array([0, 0]), ("dog", "dog", None, None))
    assert (result.fine_right, result.coarse_right) == (0, 0)
    assert result.summed_right == 1  # the two without a kind are not one kind


def test_without_errors_nothing_is_inside() -> None:
    result = coarse_accuracy(np.eye(4), np.arange(4), KINDS)
    assert result.errors == 0 and math.isnan(result.within_by_chance)


def test_choices_are_the_datas_classes_and_others_that_the_head_can_name() -> None:
    source = arrays(deciding([0, 1], 4), [0, 1], ("beagle", "dalmatian"))
    mapping = {"dalmatian": ["spotted dog"]}
    subject = reader(source, ("beagle", "spotted dog", "tabby", "van"), mapping)
    assert subject.classifier is not None
    hierarchy = {"spotted dog": "dog", "beagle": "dog", "tabby": "cat", "unicorn": "horse"}
    found = choices(subject.classifier, subject.classes, hierarchy)
    # `spotted dog` is the data's `dalmatian`, the unicorn is unknown, the van has no kind.
    assert found.selection.names == ("beagle", "dalmatian", "tabby")
    assert found.selection.members == ((0,), (1,), (2,))
    assert found.coarse == ("dog", "dog", "cat")
