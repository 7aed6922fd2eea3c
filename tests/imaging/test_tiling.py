"""Patch tiling against plain loops, and the distribution of its sampled parameters."""

from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from unshortcut.imaging.tiling import Tiles, sample_tiles, tile_patches
from unshortcut.imaging.tiling_batch import _by_index, tile_patches_batch
from unshortcut.randomness import generator


def random_image(seed: int, height: int, width: int, channels: int = 3) -> np.ndarray:
    return generator(seed).integers(0, 256, (height, width, channels), dtype=np.uint8)


def naive(image: np.ndarray, tiles: Tiles) -> np.ndarray:
    """Cut, flip, turn and join, with NumPy, one patch after the other."""
    side = int(tiles.sides[0])
    rows = []
    for row in range(-(-tiles.height // side)):
        patches = []
        for column in range(-(-tiles.width // side)):
            top, left, flipped, turns = tiles.cells[0, row, column]
            patch = image[top : top + side, left : left + side]
            assert patch.shape[:2] == (side, side)
            patches.append(np.rot90(np.fliplr(patch) if flipped else patch, turns))
        rows.append(np.concatenate(patches, axis=1))
    return np.concatenate(rows)[: tiles.height, : tiles.width]


def positions(tiles: Tiles) -> list[tuple[int, int]]:
    """Top and left of the patches that are used."""
    side = int(tiles.sides[0])
    used = tiles.cells[0, : -(-tiles.height // side), : -(-tiles.width // side), :2]
    return [(int(top), int(left)) for top, left in used.reshape(-1, 2)]


sizes = st.integers(1, 60)
options = st.fixed_dictionaries(
    {"overlap": st.booleans(), "flip": st.booleans(), "rotate": st.booleans()}
)


@settings(max_examples=150, deadline=None)
@given(sizes, sizes, sizes, sizes, st.integers(1, 40), st.integers(0, 40), options)
def test_a_tiling_is_what_cutting_and_joining_gives(
    height: int, width: int, rows: int, columns: int, low: int, more: int, chosen: dict[str, bool]
) -> None:
    image = random_image(height * 61 + width, height, width)
    rng = generator(low, more)
    tiles = sample_tiles(
        rng, height, width, patch=(low, low + more), size=(rows, columns), **chosen
    )
    out = tile_patches(image, tiles)
    assert out.dtype == np.uint8
    np.testing.assert_array_equal(out, naive(image, tiles))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 5), sizes, sizes, sizes, st.integers(1, 30), options, st.integers(1, 4))
def test_a_batch_is_tiled_as_its_images_are(
    count: int,
    height: int,
    width: int,
    side: int,
    low: int,
    chosen: dict[str, bool],
    channels: int,
) -> None:
    images = np.stack([random_image(seed, height, width, channels) for seed in range(count)])
    tiles = sample_tiles(
        generator(0), height, width, patch=(low, 2 * low), size=(side, 9), count=count, **chosen
    )
    expected = np.stack([naive(image, tiles[i]) for i, image in enumerate(images)])
    stored_last = torch.from_numpy(images).permute(0, 3, 1, 2)
    for batch in (stored_last, stored_last.contiguous()):
        for out in (tile_patches_batch(batch, tiles), _by_index(batch, tiles)):
            np.testing.assert_array_equal(out.permute(0, 2, 3, 1).numpy(), expected)


@pytest.mark.parametrize(
    "dtype",
    [
        torch.bool,
        torch.uint8,
        torch.bfloat16,
        torch.float16,
        torch.float32,
        torch.int64,
        torch.complex128,
    ],
)
def test_any_type_of_tensor_is_copied_to_the_bit(dtype: torch.dtype) -> None:
    images = (torch.randn(3, 4, 40, 50, generator=torch.Generator().manual_seed(0)) * 9).to(dtype)
    tiles = sample_tiles(generator(1), 40, 50, patch=(3, 20), size=(31, 64), count=3, flip=True)
    out = tile_patches_batch(images, tiles)
    assert out.dtype == dtype
    assert out.shape == (3, 4, 31, 64)
    assert torch.equal(out, _by_index(images, tiles))


def test_the_layout_in_memory_stays_and_the_input_does_too() -> None:
    images = torch.arange(2 * 3 * 32 * 32).reshape(2, 3, 32, 32)
    before = images.clone()
    tiles = sample_tiles(generator(0), 32, 32, patch=(5, 9), size=(32, 32), count=2)
    assert tile_patches_batch(images, tiles).is_contiguous()
    last = images.to(memory_format=torch.channels_last)
    assert tile_patches_batch(last, tiles).is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(images, before)


def test_gradients_go_back_to_the_pixels_that_were_copied() -> None:
    images = torch.rand(2, 1, 12, 12, requires_grad=True)
    tiles = sample_tiles(generator(0), 12, 12, patch=(4, 6), size=(12, 12), count=2)
    tile_patches_batch(images, tiles).sum().backward()
    expected = np.zeros((2, 1, 12, 12))
    for n in range(2):
        numbers = np.arange(144).reshape(12, 12, 1)
        np.add.at(expected[n].reshape(-1), naive(numbers, tiles[n]).reshape(-1), 1)
    assert images.grad is not None
    np.testing.assert_array_equal(images.grad.numpy(), expected)


def test_the_number_of_images_and_of_tilings_must_agree() -> None:
    tiles = sample_tiles(generator(0), 8, 8, size=(8, 8), count=2)
    with pytest.raises(ValueError, match="one tiling, not 2"):
        tile_patches(random_image(0, 8, 8), tiles)
    with pytest.raises(ValueError, match="3 images"):
        tile_patches_batch(torch.zeros(3, 1, 8, 8), tiles)


class TestDraws:
    def test_sides_are_uniform_with_both_ends(self) -> None:
        tiles = sample_tiles(generator(0), 224, 224, patch=(16, 72), count=5700)
        counts = np.bincount(tiles.sides, minlength=73)
        assert counts[:16].sum() == 0 and len(counts) == 73
        assert stats.chisquare(counts[16:]).pvalue > 1e-3

    def test_every_position_is_as_likely_the_last_one_included(self) -> None:
        tiles = sample_tiles(generator(0), 12, 10, patch=(5, 5), size=(50, 50), count=60)
        tops, lefts = tiles.cells[..., 0].ravel(), tiles.cells[..., 1].ravel()
        table = np.zeros((8, 6))
        np.add.at(table, (tops, lefts), 1)
        assert stats.chisquare(table.ravel()).pvalue > 1e-3

    def test_orientations_are_as_likely_where_asked_for(self) -> None:
        def sampled(flip: bool, rotate: bool) -> np.ndarray:
            tiles = sample_tiles(
                generator(0),
                50,
                50,
                patch=(5, 5),
                size=(50, 50),
                flip=flip,
                rotate=rotate,
                count=20,
            )
            return np.bincount(tiles.cells[..., 2].ravel() * 4 + tiles.cells[..., 3].ravel())

        assert list(sampled(False, False)) == [2000]
        assert stats.chisquare(sampled(True, False)[[0, 4]]).pvalue > 1e-3
        assert sampled(False, True).size == 4
        assert stats.chisquare(sampled(False, True)).pvalue > 1e-3
        assert stats.chisquare(sampled(True, True)).pvalue > 1e-3

    def test_a_vertical_flip_turns_patches_upside_down(self) -> None:
        """Both flips, on a patch as large as the image: all four, equally likely."""
        image = np.arange(3 * 5 * 5, dtype=np.uint8).reshape(5, 5, 3)
        kinds = [image, image[::-1], image[:, ::-1], image[::-1, ::-1]]

        def sampled(flip: bool) -> list[int]:
            found = []
            for seed in range(200):
                tiles = sample_tiles(
                    generator(seed), 5, 5, patch=(5, 5), size=(5, 5), flip=flip, vertical_flip=True
                )
                tiled = tile_patches(image, tiles)
                found.append(next(k for k, one in enumerate(kinds) if np.array_equal(one, tiled)))
            return np.bincount(found, minlength=4).tolist()

        assert sampled(False)[2:] == [0, 0]
        assert stats.chisquare(sampled(False)[:2]).pvalue > 1e-3
        assert stats.chisquare(sampled(True)).pvalue > 1e-3

    def test_a_side_is_at_most_the_image_s_shorter_one(self) -> None:
        assert sample_tiles(generator(0), 9, 30, patch=(16, 72)).sides[0] == 9

    def test_the_same_key_gives_equal_tiles(self) -> None:
        first, same, other = (sample_tiles(generator(key), 64, 64, flip=True) for key in (1, 1, 2))
        assert first == same
        assert first != other
        assert first != sample_tiles(generator(1), 64, 64, flip=True, size=(223, 224))


class TestApart:
    @settings(max_examples=150, deadline=None)
    @given(st.integers(1, 12), st.integers(1, 70), st.integers(1, 70), st.integers(1, 40), sizes)
    def test_patches_that_fit_do_not_overlap_and_others_are_distinct(
        self, side: int, height: int, width: int, out: int, seed: int
    ) -> None:
        tiles = sample_tiles(
            generator(seed), height, width, patch=(side, side), size=(out, out), overlap=False
        )
        side = int(tiles.sides[0])
        sampled = positions(tiles)
        assert all(0 <= top <= height - side and 0 <= left <= width - side for top, left in sampled)
        if (height // side) * (width // side) >= len(sampled):
            for (a, b), (c, d) in combinations(sampled, 2):
                assert abs(a - c) >= side or abs(b - d) >= side
        possible = (height - side + 1) * (width - side + 1)
        assert len(set(sampled)) == min(len(sampled), possible)

    def test_a_side_that_divides_the_image_gives_a_permutation_of_its_patches(self) -> None:
        image = random_image(0, 64, 64)
        tiles = sample_tiles(generator(0), 64, 64, patch=(16, 16), size=(64, 64), overlap=False)
        out = tile_patches(image, tiles)
        blocks = (x.reshape(4, 16, 4, 16, 3).swapaxes(1, 2).reshape(16, -1) for x in (image, out))
        before, after = ({row.tobytes() for row in block} for block in blocks)
        assert before == after
        assert not np.array_equal(out, image)

    def test_cells_get_every_part_of_the_image_alike(self) -> None:
        firsts = [
            positions(
                sample_tiles(generator(seed), 32, 32, patch=(8, 8), size=(32, 32), overlap=False)
            )[0]
            for seed in range(1600)
        ]
        table = np.zeros((4, 4))
        for top, left in firsts:
            table[top // 8, left // 8] += 1
        assert stats.chisquare(table.ravel()).pvalue > 1e-3

    def test_where_patches_must_overlap_all_positions_can_still_occur(self) -> None:
        seen = set()
        for seed in range(400):
            tiles = sample_tiles(
                generator(seed), 20, 20, patch=(7, 7), size=(20, 20), overlap=False
            )
            seen |= set(positions(tiles))
        assert len(seen) == 14 * 14


def test_a_batch_can_be_tiled_into_memory_that_is_there() -> None:
    for kind in (torch.contiguous_format, torch.channels_last):
        images = torch.rand(4, 3, 20, 24).to(memory_format=kind)
        tiles = sample_tiles(np.random.default_rng(0), 20, 24, patch=(3, 9), size=(16, 18), count=4)
        out = torch.empty(4, 3, 16, 18).to(memory_format=kind)
        assert tile_patches_batch(images, tiles, out=out) is out
        assert torch.equal(out, _by_index(images, tiles))
        for wrong in (out[:, :, :15], out.double(), out.transpose(2, 3)):
            with pytest.raises(ValueError, match="out must be"):
                tile_patches_batch(images, tiles, out=wrong)
