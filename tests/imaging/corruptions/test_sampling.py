"""Sampled parameters have the published distribution, frost the tones of the photographs."""

import numpy as np
import pytest
from scipy import stats

from unshortcut.imaging.corruptions import CORRUPTIONS, corrupt, parameters
from unshortcut.imaging.corruptions._frost import WINDOWS, frosted_window
from unshortcut.imaging.corruptions.weather import FrostSample
from unshortcut.randomness import generator


@pytest.mark.parametrize(
    ("severity", "severities"), [(1, "imagenet"), (5, "imagenet"), (1, "cifar")]
)
def test_shot_noise_counts_photons_as_poisson_does(severity: int, severities: str) -> None:
    image = np.full((200, 200, 3), 100, np.uint8)
    (photons,) = parameters("shot_noise", severity, severities)
    noisy = corrupt(image, "shot_noise", severity, generator(0), severities)
    counts = np.arange(int(photons) + 1)
    observed = [int((noisy == int(k / photons * 255)).sum()) for k in counts]
    if photons < 255:
        expected = stats.poisson.pmf(counts, photons * 100 / 255) * noisy.size
        expected[-1] += stats.poisson.sf(photons, photons * 100 / 255) * noisy.size
        likely = expected > 20
        surprise = ((observed - expected)[likely] ** 2 / expected[likely]).sum()
        assert surprise < stats.chi2.ppf(0.9999, int(likely.sum()))
    else:
        assert noisy.mean() == pytest.approx(100, abs=0.6)
        assert noisy.std() == pytest.approx(255 / photons * np.sqrt(photons * 100 / 255), rel=0.02)


def test_impulse_noise_hits_its_share_of_samples_half_of_them_white() -> None:
    image = np.full((200, 200, 3), 100, np.uint8)
    noisy = corrupt(image, "impulse_noise", 4, generator(0))
    assert (noisy == 255).mean() == pytest.approx(0.085, abs=0.004)
    assert (noisy == 0).mean() == pytest.approx(0.085, abs=0.004)


def test_motion_is_within_45_degrees_of_level_and_snow_falls() -> None:
    rng = generator(0)
    motion = [CORRUPTIONS["motion_blur"].sample(rng, 8, 8, (10, 3)) for _ in range(500)]
    falling = [CORRUPTIONS["snow"].sample(rng, 8, 8, parameters("snow", 1)) for _ in range(500)]
    assert -45 <= min(motion) < -40 < 40 < max(motion) <= 45
    degrees = [sampled.degrees for sampled in falling]
    assert -135 <= min(degrees) < -130 < -50 < max(degrees) <= -45


# Mean and standard deviation of red, green and blue of the five photographs.
PHOTOGRAPHS = [
    ((77.7, 149.1, 165.7), (26.9, 16.5, 15.3)),
    ((200.8, 205.4, 214.5), (21.4, 22.1, 22.6)),
    ((200.8, 205.4, 214.5), (21.4, 22.1, 22.6)),
    ((137.6, 152.8, 165.2), (28.5, 28.5, 29.9)),
    ((112.4, 123.4, 134.8), (44.4, 43.3, 41.7)),
]


@pytest.mark.parametrize("number", range(WINDOWS))
def test_frost_has_the_tones_of_the_photographs(number: int) -> None:
    means, deviations = PHOTOGRAPHS[number]
    levels = frosted_window(number, 1).reshape(-1, 3).astype(float)
    assert levels.mean(0) == pytest.approx(means, abs=1)
    assert levels.std(0) == pytest.approx(deviations, abs=1.2)
    assert not frosted_window(number, 1).flags.writeable


@pytest.mark.parametrize("severities", ["imagenet", "cifar"])
def test_frost_is_a_weighted_sum_with_a_piece_of_a_window(severities: str) -> None:
    image = np.random.default_rng(0).integers(0, 256, (30, 40, 3), dtype=np.uint8)
    numbers = parameters("frost", 5, severities)
    keep, weight, scale = numbers
    ice = frosted_window(3, scale)
    assert ice.shape[0] == (384 if severities == "imagenet" else 77)
    out = CORRUPTIONS["frost"].apply(image, numbers, FrostSample(3, 0.0, 0.999999))
    corner = ice[:30, ice.shape[1] - 40 :]
    assert np.array_equal(out, np.clip(keep * image + weight * corner, 0, 255).astype(np.uint8))


def test_frost_shows_every_window_and_position() -> None:
    rng = generator(0)
    sampled = [CORRUPTIONS["frost"].sample(rng, 8, 8, ()) for _ in range(300)]
    assert {one.number for one in sampled} == set(range(WINDOWS))
    assert min(one.top for one in sampled) < 0.05
    assert max(one.left for one in sampled) > 0.95


def test_frost_covers_images_larger_than_a_window() -> None:
    black = np.zeros((500, 1000, 3), np.uint8)
    out = corrupt(black, "frost", 3, generator(0))
    blocks = out.reshape(5, 100, 10, 100, 3).mean((1, 3, 4))
    assert blocks.min() > 20
