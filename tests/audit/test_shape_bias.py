"""Shape bias: counts by hand, and the counts that were published for three networks."""

import csv

import numpy as np
import pytest

from tests.real_data import real_data
from unshortcut.audit.shape_bias import shape_bias
from unshortcut.errors import UsageError


def test_decisions_are_counted_by_the_cue_that_they_follow() -> None:
    shapes = np.array([0, 0, 0, 1, 1, 2])
    textures = np.array([1, 2, 1, 0, 1, 2])  # the last two agree and do not count
    decisions = np.array([0, 2, 0, 2, 1, 0])
    found = shape_bias(decisions, shapes, textures)
    assert (found.shape, found.texture, found.conflicts) == (2, 1, 4)
    assert found.bias == pytest.approx(2 / 3)
    assert found.coverage == pytest.approx(3 / 4)
    assert found.shape_accuracy == pytest.approx(2 / 4)
    assert found.texture_accuracy == pytest.approx(1 / 4)


def test_a_bias_of_no_decision_for_either_cue_is_not_a_number() -> None:
    found = shape_bias(np.array([2]), np.array([0]), np.array([1]))
    assert np.isnan(found.bias) and found.coverage == 0


def test_without_a_conflict_or_with_labels_missing_it_is_refused() -> None:
    one = np.array([1])
    with pytest.raises(UsageError, match="conflict; there is none"):
        shape_bias(one, one, one)
    with pytest.raises(UsageError, match="got 1, 1 and 2"):
        shape_bias(one, one, np.array([0, 0]))


@pytest.mark.parametrize(
    ("network", "shape", "texture"),
    [("resnet50", 162, 572), ("alexnet", 182, 537), ("resnet50-stylized", 586, 141)],
)
def test_published_decisions_give_the_published_counts(
    network: str, shape: int, texture: int
) -> None:
    path = real_data("decisions") / f"{network}.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = sorted({row["category"] for row in rows})
    decisions = np.array([names.index(row["object_response"]) for row in rows])
    shapes = np.array([names.index(row["category"]) for row in rows])
    stimuli = [row["imagename"].rpartition(".")[0].split("-")[-1] for row in rows]
    textures = np.array([names.index(name.rstrip("0123456789")) for name in stimuli])
    found = shape_bias(decisions, shapes, textures)
    assert (found.shape, found.texture, found.conflicts) == (shape, texture, 1200)
