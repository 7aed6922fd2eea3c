"""Average precision against scikit-learn, a plain loop and cases by hand."""

import time

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

from unshortcut.errors import RunError, UsageError
from unshortcut.probes.average_precision import (
    average_precisions,
    map_mean_over_batches,
    mean_average_precision,
)


def column(*entries: float) -> NDArray[np.float64]:
    return np.array(entries, dtype=np.float64)[:, None]


def made(
    images: int, classes: int, seed: int, levels: int
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Scores with `levels` different values, of which many are therefore equal."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, levels, (images, classes)) / levels
    return scores, rng.choice(np.array([1, 0, -1], np.int8), (images, classes), p=[0.3, 0.5, 0.2])


def by_loop(scores: NDArray[np.float64], values: NDArray[np.int8]) -> tuple[float, float]:
    """The interpolated area and the 11-point figure of one class, from every threshold."""
    known = values >= 0
    scores, shown = scores[known], values[known] == 1
    curve = []
    for threshold in np.unique(scores):
        chosen = scores >= threshold
        curve.append((int((chosen & shown).sum()), float(shown[chosen].mean())))
    total = int(shown.sum())

    def best(hits: float) -> float:
        return max((precision for found, precision in curve if found >= hits - 1e-9), default=0.0)

    area = sum(best(number) for number in range(1, total + 1)) / total
    return area, sum(best(total * point / 10) for point in range(11)) / 11


@pytest.mark.parametrize("levels", [2, 7, 10**6])
def test_every_class_is_as_scikit_learn_and_a_loop_have_it(levels: int) -> None:
    scores, values = made(83, 9, levels, levels)
    found = average_precisions(scores, values)
    for number in range(9):
        one, truth = scores[:, number], values[:, number]
        area = average_precision_score(truth[truth >= 0] == 1, one[truth >= 0])
        assert found.area[number] == pytest.approx(area, abs=1e-12)
        both = found.interpolated[number], found.eleven_point[number]
        assert both == pytest.approx(by_loop(one, truth), abs=1e-12)


def test_a_case_by_hand() -> None:
    """Found in the order 1, 0, unknown, 1: precisions 1 and 2/3."""
    found = average_precisions(column(9, 7, 6, 5, 1), column(1, 0, -1, 1, 0).astype(int))
    assert found.area == pytest.approx([(1 + 2 / 3) / 2])
    assert found.eleven_point == pytest.approx([(6 * 1 + 5 * 2 / 3) / 11])
    late = average_precisions(column(9, 7, 5), column(0, 1, 1).astype(int))
    assert late.area == pytest.approx([(1 / 2 + 2 / 3) / 2])
    assert late.interpolated == pytest.approx([2 / 3])
    assert late.eleven_point == pytest.approx([2 / 3])


def test_three_of_ten_reach_the_recall_of_three_tenths() -> None:
    """The first three are found at once, the other seven at the very end."""
    values = np.r_[np.ones(3), np.zeros(90), np.ones(7)].astype(int)[:, None]
    found = average_precisions(-np.arange(100.0)[:, None], values)
    assert found.eleven_point == pytest.approx([(4 * 1 + 7 * 10 / 100) / 11])


def test_a_class_that_is_never_shown_does_not_count() -> None:
    scores, values = made(40, 3, 1, 50)
    values[:, 1] = np.minimum(values[:, 1], 0)
    found = average_precisions(scores, values)
    assert np.isnan([found.area[1], found.interpolated[1], found.eleven_point[1]]).all()
    assert mean_average_precision(scores, values) == (found.area[0] + found.area[2]) / 2


def test_the_mean_over_batches_is_higher_and_weighs_batches_by_their_images() -> None:
    """In each batch of two, what shows a class is ahead of what does not; over all it is not."""
    scores = np.array([[3.0, 0.0], [2.0, 0.0], [8.0, 0.0], [9.0, 1.0], [7.0, 0.0]])
    values = np.array([[1, 0], [0, 0], [0, 0], [1, 1], [1, 0]])
    assert map_mean_over_batches(scores, values, 2) == pytest.approx(1)
    whole = average_precision_score(values[:, 0], scores[:, 0])
    assert mean_average_precision(scores, values) == pytest.approx((whole + 1) / 2)
    assert map_mean_over_batches(scores, values, 5) == mean_average_precision(scores, values)
    first = average_precision_score(values[:3, 0], scores[:3, 0])
    assert map_mean_over_batches(scores, values, 3) == pytest.approx((3 * first + 2 * 1) / 5)
    empty = np.array([[0, 0], [0, 0], [0, 0], [1, 1], [1, 0]])
    assert map_mean_over_batches(scores, empty, 3) == pytest.approx(1)


def test_what_has_no_average_precision_is_said() -> None:
    with pytest.raises(UsageError, match="no image shows any of the classes"):
        mean_average_precision(np.zeros((3, 2)), np.zeros((3, 2), int))
    with pytest.raises(UsageError, match="no image shows any of the classes"):
        map_mean_over_batches(np.zeros((3, 2)), np.zeros((3, 2), int))
    with pytest.raises(UsageError, match=r"not \(3, 2\) and \(3, 1\)"):
        mean_average_precision(np.zeros((3, 2)), np.zeros((3, 1), int))
    with pytest.raises(RunError, match="1 of 3 images have NaN scores"):
        mean_average_precision(np.array([[0.0], [np.nan], [1.0]]), np.ones((3, 1), int))


@pytest.mark.slow
def test_six_hundred_classes_of_forty_thousand_images_take_seconds() -> None:
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((40_000, 600)).astype(np.float32)
    values = (rng.random(scores.shape) < 0.02).astype(np.int8)
    begin = time.perf_counter()
    average_precisions(scores, values)
    assert time.perf_counter() - begin < 20
