"""Features in two dimensions: near stays near, and the same seed gives the same places."""

import numpy as np
import pytest
from numpy.typing import NDArray

from unshortcut.errors import UsageError
from unshortcut.measuring.projection import project


def three_groups(each: int = 40) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Features (3 · each, 64) around three directions, of very different lengths."""
    random = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), each)
    values = np.eye(64)[labels] + 0.05 * random.normal(size=(3 * each, 64))
    return (values * random.uniform(0.1, 10, (3 * each, 1))).astype(np.float32), labels


def test_groups_stay_together_whatever_their_lengths() -> None:
    values, labels = three_groups()
    places = project(values)
    apart = np.linalg.norm(places[:, None] - places, axis=2) + 9 * np.eye(len(places))
    assert (labels[apart.argmin(axis=1)] == labels).all()
    assert places.min() == 0 and places.max() == 1
    middle = (places.min(axis=0) + places.max(axis=0)) / 2
    np.testing.assert_allclose(middle, 0.5, atol=1e-6)


def test_the_seed_decides_and_progress_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    values, _ = three_groups(each=20)
    told: list[tuple[int, int]] = []
    first = project(values, seed=3, on_progress=lambda *at: told.append(at))
    assert np.array_equal(first, project(values, seed=3))
    assert told == sorted(told) and told[-1] == (1000, 1000) and len(told) > 5
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("width", [1, 2, 16])
def test_few_images_and_few_features_have_places(count: int, width: int) -> None:
    values = np.random.default_rng(0).normal(size=(count, width)).astype(np.float32)
    places = project(values)
    assert places.shape == (count, 2)
    assert ((places >= 0) & (places <= 1)).all()


def test_features_that_are_all_alike_are_one_place() -> None:
    assert (project(np.ones((12, 5), np.float32)) == 0.5).all()


def test_features_that_are_not_finite_are_told() -> None:
    values = np.ones((4, 3), np.float32)
    values[1, 2] = np.nan
    with pytest.raises(UsageError, match="of 1 of 4 images are not finite"):
        project(values)
