"""The order of an epoch over images that are stored in blocks."""

from itertools import chain

import numpy as np
import pytest

from unshortcut.data import blocks
from unshortcut.data.blocks import Blocks, join_blocks
from unshortcut.data.loader import EpochSampler
from unshortcut.randomness import generator


def stored(count: int = 40, size: int = 4, bytes_each: int = 10) -> Blocks:
    """`count` images in blocks of `size`."""
    number = -(-count // size)
    return Blocks(np.arange(count) // size, np.full(number, bytes_each))


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows of three blocks."""
    monkeypatch.setattr(blocks, "WINDOW_BYTES", 30)


def test_each_image_comes_once_and_few_blocks_are_open_at_a_time(window: None) -> None:
    found = stored()
    order = found.order(generator(0))
    assert sorted(order.tolist()) == list(range(40))
    visited = found.numbers[order]
    spans = [np.flatnonzero(visited == block) for block in range(10)]
    for position in range(40):
        open_now = sum(span[0] <= position <= span[-1] for span in spans)
        assert open_now <= 3
    assert any(np.ptp(span) > 4 for span in spans), "images of different blocks are mixed"


def test_blocks_and_images_are_shuffled_by_the_key_alone(window: None) -> None:
    first, again, other = (stored().order(generator(0, epoch)) for epoch in (0, 0, 1))
    assert first.tolist() == again.tolist() != other.tolist()
    windows = [{*(stored().numbers[order[:12]].tolist())} for order in (first, other)]
    assert windows[0] != windows[1], "other blocks come first in another epoch"


def test_what_fits_into_one_window_is_shuffled_like_a_folder() -> None:
    order = stored().order(generator(3))
    assert order.tolist() == generator(3).permutation(40).tolist()


def test_a_block_larger_than_a_window_is_a_window_of_its_own(window: None) -> None:
    found = stored(12, 4, bytes_each=100)
    visited = found.numbers[found.order(generator(0))]
    assert np.count_nonzero(np.diff(visited)) == 2


def test_subsets_and_joined_sources_keep_their_blocks(window: None) -> None:
    odd = stored().take(np.arange(1, 40, 2))
    assert sorted(odd.order(generator(0)).tolist()) == list(range(20))
    both = join_blocks([(stored(8), 8), (None, 3), (odd, 20)])
    assert both is not None
    assert both.numbers.tolist() == [0] * 4 + [1] * 4 + [2, 3, 4] + (5 + odd.numbers).tolist()
    assert both.sizes[2:5].tolist() == [0, 0, 0] and len(both.sizes) == 15
    assert join_blocks([(None, 3), (None, 4)]) is None


@pytest.mark.parametrize("world", [1, 2, 4])
def test_ranks_joined_see_the_order_of_one_process(window: None, world: int) -> None:
    ranks = [
        list(EpochSampler(40, 8, seed=5, rank=rank, world=world, blocks=stored()))
        for rank in range(world)
    ]
    joined = [list(chain(*parts)) for parts in zip(*ranks, strict=True)]
    single = list(EpochSampler(40, 8, seed=5, blocks=stored()))
    assert joined == single
    order = stored().order(generator(5, 0, "order"))
    assert [index for batch in single for _, index in batch] == order.tolist()
