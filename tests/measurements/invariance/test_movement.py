"""Movement: distances against scikit-learn, and an interval that is as wide as it should be."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_distances

from unshortcut.measuring.invariance_profiles import apart, moved, movement


def test_distances_are_cosine_distances() -> None:
    rng = np.random.default_rng(0)
    plain, other = rng.normal(0.3, 1, (2, 17, 6)).astype(np.float32)
    expected = cosine_distances(plain.astype(np.float64), other.astype(np.float64))
    assert moved(plain, other) == pytest.approx(np.diag(expected), abs=1e-12)
    pairs = cosine_distances(plain.astype(np.float64))
    assert apart(plain) == pytest.approx(pairs.sum(axis=1) / 16, abs=1e-12)


def test_features_without_a_direction_move_only_when_they_get_one() -> None:
    zero, one = np.zeros((2, 3), np.float32), np.ones((2, 3), np.float32)
    assert moved(zero, zero).tolist() == [0, 0]
    assert moved(zero, one) == pytest.approx([0.5, 0.5])


def test_one_is_as_far_as_another_image() -> None:
    rng = np.random.default_rng(1)
    plain = rng.normal(size=(200, 8)).astype(np.float32)
    other = movement(moved(plain, np.roll(plain, 1, axis=0)), apart(plain))
    assert other.low < 1 < other.high
    assert movement(moved(plain, 3 * plain), apart(plain)).value < 1e-9


def test_the_interval_counts_what_the_unit_is_uncertain_by() -> None:
    """The standard error of 1 over the mean distance, by drawing the images anew."""
    rng = np.random.default_rng(2)

    def images() -> np.ndarray:
        return rng.normal([2, 0, 0], 1, (40, 3)).astype(np.float32)

    distances = np.ones(40)
    drawn = [1 / apart(images()).mean() for _ in range(1000)]
    widths = []
    for _ in range(12):
        found = movement(distances, apart(images()))
        widths.append((found.high - found.low) / (2 * 1.96))
    assert np.mean(widths) == pytest.approx(np.std(drawn), rel=0.2)
