"""Which images are seen under which corruption: all under all, or a balanced part of them."""

import numpy as np
import pytest

from unshortcut.measuring.corruption_accuracy import (
    CASES,
    NAMES,
    Conditions,
    corruptions_result,
    mean_corruption_error,
)
from unshortcut.measuring.corruption_decisions import assign_cases, cases_each
from unshortcut.measuring.settings import Settings


@pytest.mark.parametrize(("images", "each"), [(150, 2), (200, 2), (40, 8), (7, 43), (3, 75)])
def test_a_part_is_spread_evenly_over_cases_corruptions_and_severities(
    images: int, each: int
) -> None:
    assert cases_each(images, Settings("quick")) == each
    cases = assign_cases(images, each, seed=0)
    assert cases.shape == (images, each)
    assert all(len(set(row)) == each for row in cases.tolist())
    counts = np.bincount(cases.ravel(), minlength=len(CASES))
    assert counts.max() - counts.min() <= 1
    assert counts.min() >= min(4, images)


def test_the_few_cases_of_an_image_differ_in_corruption_and_severity() -> None:
    for row in assign_cases(150, 2, seed=3).tolist():
        (first, light), (second, strong) = (CASES[case] for case in row)
        assert first != second and light != strong


def test_other_profiles_see_everything() -> None:
    for profile in ("standard", "full"):
        assert cases_each(192, Settings(profile)) == len(CASES)  # type: ignore[arg-type]
    assert (np.sort(assign_cases(4, 75, seed=0)) == np.arange(75)).all()


def _partial(complete: np.ndarray, seed: int) -> np.ndarray:
    """The decisions (75, N) that a part of the cases shows, NaN elsewhere."""
    cases = assign_cases(complete.shape[1], 2, seed)
    seen = np.full(complete.shape, np.nan)
    for image, own in enumerate(cases):
        seen[own, image] = complete[own, image]
    return seen


def test_a_part_estimates_the_same_numbers_with_wider_intervals() -> None:
    random, images = np.random.default_rng(0), 150
    easy = random.random((1, images))
    complete = random.random((75, images)) < easy * np.linspace(1, 0.2, 75)[:, None]
    clean = np.ones(images, dtype=np.bool_)

    def result(decided: np.ndarray):  # type: ignore[no-untyped-def]
        by_name = dict(zip(NAMES, decided.reshape(15, 5, -1).astype(float), strict=True))
        return corruptions_result(
            Conditions(images, images, "", 224, 1000, True, "imagenet"), clean, by_name
        )

    whole, parts = result(complete), [result(_partial(complete, seed)) for seed in range(10)]
    values = {
        "corrupted": [one.corrupted.value for one in parts],
        "drop": [one.drop.value for one in parts],
        "noise": [one.groups["noise"].value for one in parts],
        "mce": [mean_corruption_error(one, None, NAMES).value for one in parts[:4]],
    }
    truth = {
        "corrupted": whole.corrupted.value,
        "drop": whole.drop.value,
        "noise": whole.groups["noise"].value,
        "mce": mean_corruption_error(whole, None, NAMES).value,
    }
    for name, found in values.items():
        assert np.mean(found) == pytest.approx(truth[name], abs=0.04), name
    inside = [one.corrupted.low <= whole.corrupted.value <= one.corrupted.high for one in parts]
    assert np.mean(inside) >= 0.8
    width = np.mean([one.corrupted.high - one.corrupted.low for one in parts])
    assert width > whole.corrupted.high - whole.corrupted.low


def test_a_part_keeps_what_was_seen_of_each_image() -> None:
    decided = np.full((15, 5, 2), np.nan)
    decided[NAMES.index("fog"), [0, 3], 0] = (0, 1)  # the first image, wrong at one of two levels
    decided[NAMES.index("snow"), 2, 1] = 0
    conditions = Conditions(2, 2, "", 224, 1000, True, "imagenet", cases_each=2)
    found = corruptions_result(
        conditions, np.ones(2, np.bool_), dict(zip(NAMES, decided, strict=True))
    )
    np.testing.assert_array_equal(found.errors(["fog", "snow"]), [[0.5, np.nan], [np.nan, 1.0]])
    assert found.corrupted.value == pytest.approx((0.5 + 0.0) / 2)
    assert found.accuracy["fog"][0] == 0 and np.isnan(found.accuracy["fog"][1])
    assert not conditions.complete
