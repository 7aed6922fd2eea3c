"""Measures of texture on cases whose answer is known, and against SciPy's one-dimensional W1."""

import numpy as np
import pytest
from benchmarks.texture_statistics import find_copied_pieces, gram_distance, wasserstein_distance
from scipy import ndimage, stats

RNG = np.random.default_rng
DISTANCES = (wasserstein_distance, gram_distance)


def noise(height: int, width: int, seed: int = 0, colors: int = 256) -> np.ndarray:
    return RNG(seed).integers(0, colors, (height, width, 3), np.uint8)


def grating(phase: int, turned: bool = False) -> np.ndarray:
    y, x = np.mgrid[:96, :96]
    wave = 128 + 100 * np.sin(((y if turned else x) + phase) * 2 * np.pi / 8)
    return np.repeat(wave[..., None], 3, axis=-1).astype(np.uint8)


@pytest.mark.parametrize("distance", DISTANCES)
def test_equal_sets_have_no_distance(distance) -> None:  # type: ignore[no-untyped-def]
    first, second = noise(40, 50), grating(0)
    assert distance([first, second], [second, first]) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("distance", DISTANCES)
def test_structure_counts_and_place_does_not(distance) -> None:  # type: ignore[no-untyped-def]
    reference = grating(0)
    moved = distance([grating(4)], [reference])
    shuffled = RNG(0).permutation(reference.reshape(-1, 3)).reshape(reference.shape)
    assert moved < 0.1 * distance([shuffled], [reference])
    assert moved < 0.1 * distance([noise(96, 96)], [reference])


def test_the_gram_matrix_tells_orientations_apart() -> None:
    moved = gram_distance([grating(4)], [grating(0)])
    assert moved < 0.1 * gram_distance([grating(0, turned=True)], [grating(0)])


def test_constant_images_are_apart_by_the_mean_length_of_a_projection() -> None:
    """Directions are random: a constant patch c projects on c·N(0, 1), whose mean size is 0.8 c."""
    first, second = (np.full((64, 64, 3), level, np.uint8) for level in (100, 140))
    distance = wasserstein_distance([first], [second])
    assert distance == pytest.approx(40 * np.sqrt(2 / np.pi), rel=0.25)
    third = np.full((64, 64, 3), 180, np.uint8)
    assert wasserstein_distance([first], [third]) == pytest.approx(2 * distance, rel=1e-5)


def test_the_wasserstein_distance_is_scipys_mean_over_random_directions() -> None:
    """Images of 13 px have 7×7 patches at one scale only; SciPy gets directions of its own."""
    first, second = noise(13, 13), (grating(0)[:13, :13] // 2)

    def patches(image: np.ndarray) -> np.ndarray:
        cut = [image[y : y + 7, x : x + 7].ravel() for y in range(7) for x in range(7)]
        return np.array(cut, float)

    directions = RNG(1).standard_normal((147, 2000))
    directions /= np.linalg.norm(directions, axis=0)
    ours, theirs = patches(first) @ directions, patches(second) @ directions
    expected = np.mean(
        [stats.wasserstein_distance(a, b) for a, b in zip(ours.T, theirs.T, strict=True)]
    )
    assert wasserstein_distance([first], [second]) == pytest.approx(expected, rel=0.15)


@pytest.mark.parametrize("distance", DISTANCES)
def test_images_that_are_too_small_are_refused(distance) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match="at least 7×7 pixels"):
        distance([noise(6, 50)], [noise(50, 50)])


def test_a_whole_copy_is_one_region_of_its_example() -> None:
    examples = [noise(40, 40, 1), noise(30, 50, 2)]
    found = find_copied_pieces(examples[1][5:25, 10:45], examples)
    assert found.shares == (0.0, 1.0)
    assert found.areas.tolist() == [20 * 35]
    assert found.median_area == found.median_region == 700


def test_regions_are_told_apart_by_example_and_offset() -> None:
    examples = [noise(40, 40, 1), noise(40, 40, 2)]
    result = noise(30, 40, 3)
    result[:10, :10] = examples[0][5:15, 5:15]
    result[:10, 10:20] = examples[0][5:15, 16:26]
    result[10:30, :15] = examples[1][:20, :15]
    found = find_copied_pieces(result, examples)
    assert sorted(found.areas.tolist()) == [100, 100, 300]
    assert found.shares == pytest.approx((200 / 1200, 300 / 1200))
    assert (found.median_area, found.median_region) == (300, 100)


def test_pieces_of_one_offset_that_do_not_touch_are_two_regions() -> None:
    example = noise(40, 40, 1)
    result = example.copy()
    result[:, 18:22] = noise(40, 4, 2)
    assert sorted(find_copied_pieces(result, [example]).areas.tolist()) == [18 * 40, 18 * 40]


def test_what_lies_in_two_pieces_counts_for_the_larger() -> None:
    example = noise(60, 60, 1)
    example[40:50, 40:50] = example[:10, :10]
    assert find_copied_pieces(example[:20, :20], [example]).areas.tolist() == [400]


def test_noise_flat_areas_and_crumbs_are_not_found() -> None:
    example = noise(40, 40, 1)
    example[:20] = 7
    crumbs = noise(40, 40, 2)
    crumbs[5:7, 5:20] = example[25:27, 5:20]
    for result in (noise(40, 40, 3), np.full((30, 30, 3), 7, np.uint8), crumbs, example[:2, :2]):
        found = find_copied_pieces(result, [example])
        assert found.shares == (0.0,)
        assert found.median_area == found.median_region == 0


def test_shares_cover_just_the_blocks_that_occur_in_an_example() -> None:
    """Two colors only, so that blocks match by chance; compared with a plain search."""
    example, result = (np.repeat(noise(24, 24, n, 2)[..., :1], 3, axis=-1) for n in (1, 2))

    def blocks(image: np.ndarray) -> list[bytes]:
        return [image[y : y + 3, x : x + 3].tobytes() for y in range(22) for x in range(22)]

    there = blocks(example)
    hits = np.array([0 < there.count(block) <= 16 for block in blocks(result)]).reshape(22, 22)
    covered = ndimage.binary_dilation(np.pad(hits, 1), np.ones((3, 3)))
    found = find_copied_pieces(result, [example])
    assert found.areas.sum() == covered.sum()
    assert found.shares[0] == pytest.approx(covered.mean())
