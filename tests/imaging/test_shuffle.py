"""Patch shuffle: every patch moves as a whole, and nothing else changes."""

import numpy as np
import pytest

from unshortcut.imaging.shuffle import shuffle_patches


def numbered(height: int, width: int) -> np.ndarray:
    """Pixels that are all different."""
    flat = np.arange(height * width)
    return (
        np.stack([flat % 251, flat // 251, flat % 7], axis=1).reshape(height, width, 3).astype("u1")
    )


def cut(image: np.ndarray, grid: int, side: int) -> list[bytes]:
    cells = [(row * side, column * side) for row in range(grid) for column in range(grid)]
    return [image[y : y + side, x : x + side].tobytes() for y, x in cells]


@pytest.mark.parametrize("grid", [2, 3, 4, 12])
def test_patches_are_all_there_and_none_keeps_its_position(grid: int) -> None:
    image = numbered(24, 24)
    for seed in range(20):
        before = cut(image, grid, 24 // grid)
        after = cut(shuffle_patches(image, grid, np.random.default_rng(seed)), grid, 24 // grid)
        assert sorted(before) == sorted(after)
        assert all(old != new for old, new in zip(before, after, strict=True))


def test_pixels_beyond_the_grid_stay() -> None:
    image = numbered(23, 26)
    out = shuffle_patches(image, 4, np.random.default_rng(0))
    inside = (slice(1, 21), slice(1, 25))
    moved = (out != image).any(axis=2)
    assert moved[inside].all()
    moved[inside] = False
    assert not moved.any()


def test_the_generator_decides_and_the_image_is_left_alone() -> None:
    image = numbered(16, 16)
    kept = image.copy()
    first, again, other = (
        shuffle_patches(image, 4, np.random.default_rng(seed)) for seed in (0, 0, 1)
    )
    assert (first == again).all() and (first != other).any() and (image == kept).all()
    assert (shuffle_patches(image, 1, np.random.default_rng(0)) == image).all()


def test_more_patches_than_pixels_is_an_error() -> None:
    with pytest.raises(ValueError, match="9 × 9"):
        shuffle_patches(numbered(8, 8), 9, np.random.default_rng(0))
