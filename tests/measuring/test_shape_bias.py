"""Shape bias: counts by hand, by class of shape, and the interval that few stimuli leave."""

import numpy as np
import pytest

from unshortcut.errors import UsageError
from unshortcut.measuring.shape_bias import bias_interval, by_shape, shape_bias


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
    with pytest.raises(UsageError, match="conflict; there are none"):
        shape_bias(one, one, one)
    with pytest.raises(UsageError, match="got 1, 1 and 2"):
        shape_bias(one, one, np.array([0, 0]))


def test_each_class_of_shape_has_counts_of_its_own() -> None:
    shapes = np.array([0, 0, 0, 1, 1, 2])
    textures = np.array([1, 2, 1, 0, 1, 2])  # shape 2 has no conflict
    decisions = np.array([0, 2, 1, 2, 1, 0])
    found = by_shape(decisions, shapes, textures)
    counts = {shape: (one.shape, one.texture, one.conflicts) for shape, one in found.items()}
    assert counts == {0: (1, 2, 3), 1: (0, 0, 1)}


def test_the_interval_of_the_bias_is_that_of_resampled_stimuli() -> None:
    random = np.random.default_rng(0)
    shapes, textures = np.zeros(300, np.int64), np.ones(300, np.int64)
    decisions = random.choice(3, 300, p=[0.2, 0.4, 0.4])
    biases = []
    for _ in range(4000):
        drawn = random.choice(decisions, 300)
        biases.append((drawn == 0).sum() / (drawn < 2).sum())
    low, high = bias_interval(decisions, shapes, textures)
    assert (low, high) == pytest.approx(np.quantile(biases, [0.025, 0.975]), abs=0.012)
    agreeing = np.concatenate([shapes, textures])
    again = bias_interval(
        np.concatenate([decisions, decisions]), agreeing, np.concatenate([textures, textures])
    )
    assert again == (low, high)  # stimuli whose cues agree play no part


def test_decisions_that_all_follow_one_cue_still_leave_an_interval() -> None:
    shapes, textures = np.zeros(5, np.int64), np.ones(5, np.int64)
    low, high = bias_interval(np.array([1, 1, 1, 1, 2]), shapes, textures)
    z = 1.959964
    assert (low, high) == pytest.approx((0, (z * z / 4) / (1 + z * z / 4)), abs=1e-6)
    assert np.isnan(bias_interval(np.full(5, 2), shapes, textures)).all()
