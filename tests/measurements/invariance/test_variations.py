"""Variations: each changes an image as it says, and not at the level that changes nothing."""

import numpy as np
import pytest

from unshortcut.imaging.color import gray
from unshortcut.measuring.invariance_profiles import (
    VARIATIONS,
    Variation,
    enlarged,
    rotated,
)

BY_NAME = {one.name: one for one in VARIATIONS}


def picture(side: int = 40) -> np.ndarray:
    rng = np.random.default_rng(0)
    coarse = rng.integers(20, 236, (side // 4, side // 4, 3)).repeat(4, axis=0).repeat(4, axis=1)
    return (coarse + rng.integers(-9, 10, coarse.shape)).astype(np.uint8)


def apply(one: Variation, image: np.ndarray, level: float, seed: int = 0) -> np.ndarray:
    return one.apply(image, level, np.random.default_rng(seed))


@pytest.mark.parametrize("one", VARIATIONS, ids=lambda one: one.name)
def test_every_level_changes_an_image_and_the_plain_one_does_not(one: Variation) -> None:
    image = picture()
    # Hue goes through 8 bits, which costs a few gray levels.
    rounding = 6 if one.name == "hue" else 0
    assert np.abs(apply(one, image, one.plain).astype(int) - image).max() <= rounding
    kept = image.copy()
    for level in one.levels:
        out = apply(one, image, level)
        assert out.shape == image.shape and out.dtype == np.uint8
        assert np.abs(out.astype(int) - image).max() > rounding
        assert (out == apply(one, image, level)).all()
    assert (image == kept).all()
    assert len(set(one.labels)) == len(one.levels)


def test_a_quarter_turn_is_exact_and_no_turn_has_empty_corners() -> None:
    image = picture()
    assert (rotated(image, 90) == np.rot90(image)).all()
    assert (rotated(image, 180) == np.rot90(image, 2)).all()
    for degrees in (10, 30, 45, 60):
        assert rotated(image, degrees).min() > 5  # black is what lies beyond


def test_without_color_an_image_is_gray() -> None:
    out = apply(BY_NAME["saturation"], picture(), 1.0)
    assert (out == gray(picture())).all()


def test_enlarged_twice_shows_the_middle_half() -> None:
    image = np.zeros((40, 40, 3), np.uint8)
    image[10:30, 10:30] = 200
    assert (enlarged(image, 2) == 200).all()


def test_blur_is_of_the_same_share_at_every_size() -> None:
    """The width of a blurred edge, over the side."""
    widths = []
    for side in (56, 224):
        edge = np.zeros((side, side, 3), np.uint8)
        edge[:, side // 2 :] = 255
        row = apply(BY_NAME["blur"], edge, 8.0)[side // 2, :, 0].astype(int)
        widths.append(((row > 25) & (row < 230)).sum() / side)
    assert widths[0] == pytest.approx(widths[1], abs=2 / 56) and widths[1] > 0.05


def test_patches_are_no_finer_than_pixels() -> None:
    small = picture(8)
    out = apply(BY_NAME["patch_shuffle"], small, 16.0)
    assert sorted(out.reshape(-1, 3).tolist()) == sorted(small.reshape(-1, 3).tolist())
