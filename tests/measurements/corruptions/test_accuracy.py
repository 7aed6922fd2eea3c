"""What decisions on corrupted images come to, from decisions made by hand."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from unshortcut.measuring.corruption_accuracy import (
    ALEXNET_CLEAN_ERROR,
    ALEXNET_ERRORS,
    COMPARABLE,
    NAMES,
    Conditions,
    CorruptionsResult,
    corruptions_result,
    mean_corruption_error,
    reference_errors,
    relative_mean_corruption_error,
)

N = 40


def conditions(images: str = "these") -> Conditions:
    return Conditions(N, N, images, 224, 1000, True, "imagenet")


def random_result(seed: int, share: float, images: str = "these") -> CorruptionsResult:
    """Decisions of which so many are right, at random."""
    random = np.random.default_rng(seed)
    right = {name: random.random((5, N)) < share for name in NAMES}
    return corruptions_result(conditions(images), random.random(N) < share + 0.1, right)


def by_level(*shares: float) -> dict[str, NDArray[np.bool_]]:
    """The same shares of the images right under every corruption."""
    level = np.stack([np.arange(N) < share * N for share in shares])
    return dict.fromkeys(NAMES, level)


def test_means_are_over_corruptions_severities_and_groups() -> None:
    right = by_level(1.0, 0.8, 0.5, 0.3, 0.1)
    right["fog"] = np.zeros((5, N), dtype=np.bool_)
    result = corruptions_result(conditions(), np.ones(N, dtype=np.bool_), right)
    assert result.clean.value == 1
    assert result.corrupted.value == pytest.approx(14 / 15 * 0.54)
    assert result.severe.value == pytest.approx(14 / 15 * 0.3)
    assert result.drop.value == pytest.approx(1 - 14 / 15 * 0.54)
    assert result.groups["weather"].value == pytest.approx(3 / 4 * 0.54)
    assert result.groups["noise"].value == pytest.approx(0.54)
    assert result.accuracy["snow"] == pytest.approx((1.0, 0.8, 0.5, 0.3, 0.1))
    assert [one.value for one in result.by_severity] == pytest.approx(
        [14 / 15 * share for share in (1.0, 0.8, 0.5, 0.3, 0.1)]
    )


def test_errors_of_images_are_kept_with_the_result() -> None:
    random = np.random.default_rng(0)
    right = {name: random.random((5, N)) < 0.6 for name in NAMES}
    clean = random.random(N) < 0.9
    result = corruptions_result(conditions(), clean, right)
    expected = np.stack([1 - right[name].mean(axis=0) for name in ("snow", "contrast")], axis=1)
    np.testing.assert_allclose(result.errors(("snow", "contrast")), expected)
    np.testing.assert_array_equal(result.clean_errors(), 1.0 - clean)


def test_intervals_are_of_images_and_not_of_their_copies() -> None:
    """Where a model is right about an image under all corruptions or none, 75 copies are as one."""
    result = corruptions_result(
        conditions(), np.arange(N) < N / 2, by_level(0.5, 0.5, 0.5, 0.5, 0.5)
    )
    half = 1.96 * np.sqrt(0.25 / N)
    assert result.corrupted.value == 0.5
    assert result.corrupted.low == pytest.approx(0.5 - half, abs=0.04)
    assert result.corrupted.high == pytest.approx(0.5 + half, abs=0.04)
    assert (result.drop.low, result.drop.high) == (0, 0)


def test_the_mce_is_that_of_the_formula() -> None:
    result = random_result(0, 0.6)
    by_hand = np.mean(
        [(1 - np.mean(result.accuracy[name])) / ALEXNET_ERRORS[name] for name in NAMES]
    )
    found = mean_corruption_error(result, None, NAMES)
    assert found.value == pytest.approx(by_hand)
    assert found.low < by_hand < found.high
    relative = np.mean(
        [
            (result.clean.value - np.mean(result.accuracy[name]))
            / (ALEXNET_ERRORS[name] - ALEXNET_CLEAN_ERROR)
            for name in COMPARABLE
        ]
    )
    own = relative_mean_corruption_error(result, None, COMPARABLE)
    assert own.value == pytest.approx(relative) and own.low < relative < own.high


def test_snow_and_frost_are_no_part_of_the_mce_over_13() -> None:
    result = random_result(0, 0.6)
    worse = dict.fromkeys(("snow", "frost"), "5" * N)
    changed = replace(result, mistakes=result.mistakes | worse)
    assert len(COMPARABLE) == 13
    assert mean_corruption_error(changed, None, COMPARABLE) == mean_corruption_error(
        result, None, COMPARABLE
    )
    mces = [mean_corruption_error(one, None, NAMES).value for one in (result, changed)]
    assert mces[1] > mces[0]


def test_a_model_is_its_own_baseline_with_certainty() -> None:
    result = random_result(0, 0.6)
    found = mean_corruption_error(result, result, NAMES)
    assert (found.value, found.low, found.high) == pytest.approx((1, 1, 1))


def test_a_baseline_on_the_same_images_is_resampled_with_the_model() -> None:
    """Images that are hard for both do not make their ratio uncertain."""
    hard = by_level(0.5, 0.5, 0.5, 0.5, 0.5)
    model = corruptions_result(conditions(), np.ones(N, dtype=np.bool_), hard)
    wrong = {name: right.copy() for name, right in hard.items()}
    for right in wrong.values():
        right[:4, -N // 2 :] = True  # right at four severities of five
    better = corruptions_result(conditions(), np.ones(N, dtype=np.bool_), wrong)
    paired = mean_corruption_error(better, model, NAMES)
    assert (paired.value, paired.low, paired.high) == pytest.approx((0.2, 0.2, 0.2))
    elsewhere = replace(model, conditions=conditions("others"))
    apart = mean_corruption_error(better, elsewhere, NAMES)
    assert apart.value == pytest.approx(0.2) and apart.low < 0.18 and apart.high > 0.22


def test_the_reference_is_alexnet_or_the_baseline() -> None:
    baseline = random_result(1, 0.7)
    np.testing.assert_allclose(
        reference_errors(baseline, ("fog",)), [1 - np.mean(baseline.accuracy["fog"])]
    )
    np.testing.assert_allclose(reference_errors(None, ("fog",)), [0.819324])
