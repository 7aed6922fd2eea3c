"""Procedural textures: rich, of any size, and the same for the same key."""

import time

import numpy as np
import pytest

from unshortcut.imaging.patterns import FAMILIES, random_pattern
from unshortcut.randomness import generator


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (7, 3), (64, 64), (120, 224)])
def test_any_size(shape: tuple[int, int]) -> None:
    for seed in range(20):
        pattern = random_pattern(generator(seed), *shape)
        assert pattern.shape == (*shape, 3) and pattern.dtype == np.uint8


def test_the_same_key_gives_the_same_pattern_and_another_another() -> None:
    patterns = [random_pattern(generator(seed), 48, 48) for seed in (*range(30), *range(30))]
    for first, again in zip(patterns[:30], patterns[30:], strict=True):
        np.testing.assert_array_equal(first, again)
    assert len({pattern.tobytes() for pattern in patterns}) == 30


def test_patterns_have_contrast_and_are_alike_all_over() -> None:
    for seed in range(60):
        pattern = random_pattern(generator(seed), 128, 128) @ np.array([0.299, 0.587, 0.114])
        quarters = pattern.reshape(2, 64, 2, 64).swapaxes(1, 2).reshape(4, -1)
        assert pattern.std() > 8, seed
        assert np.ptp(quarters.mean(axis=1)) < 3 * pattern.std(), seed
        assert quarters.std(axis=1).min() > pattern.std() / 5, seed


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_a_family_varies_and_its_scale_is_the_period(family) -> None:  # type: ignore[no-untyped-def]
    def roughness(period: float) -> float:
        """Mean squared step between neighbors over the variance, of a few fields."""
        fields = [family(generator(seed), 128, 128, period) for seed in range(8)]
        assert all(field.dtype == np.float32 and field.shape == (128, 128) for field in fields)
        return float(np.mean([(np.diff(f, axis=1) ** 2).mean() / f.var() for f in fields]))

    assert roughness(5.0) > 1.5 * roughness(15.0)


def test_a_pattern_is_the_same_at_every_size() -> None:
    """The colors, to be exact: what is sampled first."""
    for seed in range(12):
        small, large = (random_pattern(generator(seed), side, side) for side in (112, 224))
        np.testing.assert_allclose(small.mean(axis=(0, 1)), large.mean(axis=(0, 1)), atol=25)


@pytest.mark.slow
def test_three_milliseconds_at_224() -> None:
    times = []
    for seed in range(40):
        rng = generator(seed)
        start = time.process_time()
        random_pattern(rng, 224, 224)
        times.append(time.process_time() - start)
    assert np.median(times) < 3e-3
