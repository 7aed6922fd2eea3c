"""Synthesized textures: made of the examples' pixels, close to their statistics, repeatable."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import PIL.Image
import pytest
from benchmarks.texture_statistics import find_copied_pieces, gram_distance, wasserstein_distance
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.imaging.pictures import pictures
from tests.real_data import real_data
from unshortcut.imaging.synthesis import example_patches, synthesize_texture

RNG = np.random.default_rng


def stripes(side: int = 96, period: int = 12) -> np.ndarray:
    """Slanted stripes of two colors with a little noise."""
    y, x = np.mgrid[:side, :side]
    bright = ((x + y // 2) % period < period // 2)[..., None]
    noise = RNG(0).integers(0, 20, (side, side, 3))
    return (np.where(bright, (200, 180, 60), (30, 40, 120)) + noise).astype(np.uint8)


def drawn_examples() -> list[np.ndarray]:
    return example_patches(pictures("drawn")[0], RNG(0))


def tiled(example: np.ndarray, height: int, width: int, side: int = 24) -> np.ndarray:
    rng = RNG(0)
    out = np.empty((height, width, 3), np.uint8)
    for top in range(0, height, side):
        for left in range(0, width, side):
            y, x = rng.integers(0, example.shape[0] - side + 1, 2)
            hole = out[top : top + side, left : left + side]
            hole[:] = example[y : y + hole.shape[0], x : x + hole.shape[1]]
    return out


def test_a_seed_gives_the_same_bytes_on_any_number_of_threads() -> None:
    examples = drawn_examples()
    seeds = [0, 1, 2, 0, 1, 2]
    alone = [synthesize_texture(examples, 80, 96, seed=seed) for seed in seeds]
    with ThreadPoolExecutor(3) as pool:
        together = list(
            pool.map(lambda seed: synthesize_texture(examples, 80, 96, seed=seed), seeds)
        )
    for first, second in zip(alone, together, strict=True):
        np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(alone[0], alone[3])
    assert not np.array_equal(alone[0], alone[1])


def test_the_examples_stay_and_may_be_read_only_or_strided() -> None:
    whole = drawn_examples()[0]
    before = whole.copy()
    view = whole[::2, ::-1]
    view.flags.writeable = False
    result = synthesize_texture([view], 40, 40)
    np.testing.assert_array_equal(whole, before)
    np.testing.assert_array_equal(result, synthesize_texture([view.copy()], 40, 40))


SIDES = st.integers(1, 24)


@settings(max_examples=40, deadline=None)
@given(
    shapes=st.lists(st.tuples(SIDES, SIDES), min_size=1, max_size=3),
    height=SIDES,
    width=SIDES,
    seed=st.integers(-(2**63), 2**64),
)
def test_any_size_gives_pixels_of_the_examples(
    shapes: Sequence[tuple[int, int]], height: int, width: int, seed: int
) -> None:
    examples = [RNG(n).integers(0, 256, (*shape, 3), np.uint8) for n, shape in enumerate(shapes)]
    result = synthesize_texture(examples, height, width, seed=seed)
    assert result.shape == (height, width, 3)
    assert result.dtype == np.uint8
    known = {tuple(color) for one in examples for color in one.reshape(-1, 3).tolist()}
    assert {tuple(color) for color in result.reshape(-1, 3).tolist()} <= known


def test_large_examples_of_unlike_sizes_give_their_pixels() -> None:
    examples = [pictures("drawn")[0], drawn_examples()[0][:1], stripes(48)]
    result = synthesize_texture(examples, 33, 250)
    known = np.unique(np.concatenate([one.reshape(-1, 3) for one in examples]), axis=0)
    assert len(np.unique(np.concatenate([known, result.reshape(-1, 3)]), axis=0)) == len(known)


def test_a_constant_example_gives_the_constant() -> None:
    example = np.full((48, 48, 3), (10, 200, 77), np.uint8)
    np.testing.assert_array_equal(
        synthesize_texture([example, example], 64, 64)[0, 0], (10, 200, 77)
    )
    assert len(np.unique(synthesize_texture([example], 64, 64).reshape(-1, 3), axis=0)) == 1


def test_stripes_stay_stripes() -> None:
    example = stripes()
    result = synthesize_texture([example])
    flat = result.reshape(-1, 3)
    shuffled = RNG(0).permutation(flat).reshape(result.shape)
    for distance in (wasserstein_distance, gram_distance):
        ours = distance([result], [example])
        assert ours < 0.4 * distance([shuffled], [example])
        assert ours < 0.8 * distance([tiled(example, 224, 224)], [example])


@pytest.mark.parametrize("seed", range(3))
def test_two_unlike_examples_get_equal_shares(seed: int) -> None:
    dark, bright = stripes() // 4, 255 - stripes() // 4
    result = synthesize_texture([dark, bright], 128, 128, seed=seed)
    assert (result.mean(axis=-1) > 128).mean() == pytest.approx(0.5, abs=0.1)


def test_examples_are_used_according_to_their_area() -> None:
    dark, bright = stripes(48) // 4, 255 - stripes(96) // 4
    result = synthesize_texture([dark, bright], 128, 128)
    assert (result.mean(axis=-1) > 128).mean() == pytest.approx(0.8, abs=0.1)


@pytest.mark.parametrize(
    ("examples", "height", "sentence"),
    [
        ([], 8, "at least one example"),
        ([np.zeros((4, 4, 3), np.uint8), np.zeros((4, 4), np.uint8)], 8, "example 1 must be uint8"),
        ([np.zeros((4, 4, 3), np.float32)], 8, "not float32"),
        ([np.zeros((0, 4, 3), np.uint8)], 8, "example 0 has no pixels"),
        ([np.zeros((4, 4, 3), np.uint8)], 0, "at least 1×1 pixels, not 0×8"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(
    examples: list[np.ndarray], height: int, sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        synthesize_texture(examples, height, 8)


@pytest.mark.parametrize(
    ("height", "width", "wanted", "side"),
    [
        (96, 300, None, 96),
        (95, 300, None, 48),
        (300, 48, None, 48),
        (47, 60, None, 47),
        (1, 9, None, 1),
        (50, 60, 20, 20),
        (50, 60, 80, 50),
    ],
)
def test_patches_are_the_center_and_a_random_position(
    height: int, width: int, wanted: int | None, side: int
) -> None:
    y, x = np.mgrid[:height, :width]
    image = np.stack([y, x, 0 * x], axis=-1).astype(np.uint8)
    corners = set()
    for seed in range(30):
        center, random = example_patches(image, RNG(seed), wanted)
        assert center.shape == random.shape == (side, side, 3)
        middle = ((height - side) // 2 % 256, (width - side) // 2 % 256, 0)
        assert tuple(center[0, 0].tolist()) == middle
        top, left = (int(number) for number in random[0, 0, :2])
        np.testing.assert_array_equal(random, image[top : top + side, left : left + side])
        corners.add((top, left))
    assert len(corners) > 5 or (height - side + 1) * (width - side + 1) < 20


def test_a_patch_without_pixels_is_refused() -> None:
    with pytest.raises(ValueError, match="a 9×9 image has no patches of side 0"):
        example_patches(np.zeros((9, 9, 3), np.uint8), RNG(0), 0)


def test_textures_of_photographs_are_closer_than_the_papers_tool_s() -> None:
    folder = real_data("texture-reference")

    def read(number: int, kind: str) -> np.ndarray:
        with PIL.Image.open(folder / f"{number:02d}-{kind}.png") as image:
            return np.asarray(image.convert("RGB"))

    measured = []
    for number in range(1, 40, 6):
        examples = [read(number, "centre"), read(number, "random")]
        for result in (synthesize_texture(examples), read(number, "reference")):
            measured.append(
                (
                    wasserstein_distance([result], examples),
                    gram_distance([result], examples),
                    find_copied_pieces(result, examples).median_area,
                )
            )
    ours, theirs = np.mean(measured[::2], axis=0), np.mean(measured[1::2], axis=0)
    assert (ours < theirs).all(), (ours, theirs)
