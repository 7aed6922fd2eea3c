"""Weak slices: found where there are some, and rarely where there are none."""

import numpy as np
import pytest

from unshortcut.measuring.slices import Slice, find_slice, halves


def class_with_errors(seed: int, *, clustered: bool) -> tuple[np.ndarray, np.ndarray]:
    """300 images of which a quarter are errors; alike in one feature, or at random."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(300, 16))
    wrong = rng.random(300) < 0.25
    if clustered:
        features[wrong, 3] += 4
    return features, ~wrong


def slice_of(features: np.ndarray, right: np.ndarray, seed: int = 0) -> Slice | None:
    parts = halves(right, seed=seed)
    return None if parts is None else find_slice(features, right, parts)


def test_errors_that_are_alike_are_a_slice() -> None:
    features, right = class_with_errors(0, clustered=True)
    found = slice_of(features, right)
    assert found is not None and found.p < 1e-6 and found.gap > 0.7
    assert features[found.members, 3].mean() > 2
    assert found.inside[1] + found.outside[1] == 150


def test_errors_at_random_are_none_more_often_than_stated() -> None:
    found = [slice_of(*class_with_errors(seed, clustered=False), seed) for seed in range(60)]
    assert sum(one is not None and one.p < 0.05 for one in found) <= 7  # 3 are expected


@pytest.mark.parametrize(("images", "errors"), [(8, 3), (40, 0), (40, 40), (40, 1)])
def test_too_few_images_or_errors_give_no_slice(images: int, errors: int) -> None:
    right = np.arange(images) >= errors
    assert halves(right) is None
