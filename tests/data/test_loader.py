"""The loader: views by key alone, ranks that add up, replacements, and its position in an epoch."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
import torch

from unshortcut.data.batches import LoadedBatch
from unshortcut.data.loader import EpochSampler, ViewLoader, check_batch
from unshortcut.data.source import ArrayImage, BadImageError, Image, ImageSource
from unshortcut.errors import RunError, UsageError
from unshortcut.randomness import generator


class Numbers(ImageSource):
    """Image i is filled with i; those in `bad` fail when their pixels are requested."""

    def __init__(self, count: int, bad: frozenset[int] = frozenset()) -> None:
        self.count = count
        self.bad = bad
        self.classes = ("even", "odd")
        self.labels = np.arange(count, dtype=np.int64) % 2

    def __len__(self) -> int:
        return self.count

    def image(self, index: int) -> ArrayImage:
        if index in self.bad:
            raise BadImageError("bad on purpose")
        return ArrayImage(np.full((5, 7, 3), index, dtype=np.uint8))

    def identity(self, index: int) -> str:
        return f"number {index}"

    def fingerprint(self) -> str:
        return str(self.count)


def noisy(image: Image, seed: int, epoch: int, index: int) -> dict[str, np.ndarray]:
    rng = generator(seed, epoch, index)
    pixels = image.pixels()
    return {
        "query": pixels + rng.integers(0, 100, pixels.shape, dtype=np.uint8),
        "key": pixels + rng.integers(0, 100, pixels.shape, dtype=np.uint8),
    }


def plain(image: Image, seed: int, epoch: int, index: int) -> dict[str, np.ndarray]:
    return {"view": image.pixels()}


def epochs(loader: ViewLoader, count: int) -> list[LoadedBatch]:
    batches = []
    for epoch in range(count):
        loader.sampler.set_epoch(epoch)
        batches += list(loader)
    loader.close()
    return batches


def same(one: LoadedBatch, other: LoadedBatch) -> bool:
    return (
        one["views"].keys() == other["views"].keys()
        and all(torch.equal(one["views"][name], other["views"][name]) for name in one["views"])
        and torch.equal(one["index"], other["index"])
        and torch.equal(one["label"], other["label"])
        and one["failures"] == other["failures"]
    )


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_views_are_the_same_to_the_bit_with_any_number_of_workers(workers: int) -> None:
    source = Numbers(30, bad=frozenset({3, 4}))
    alone = epochs(ViewLoader(source, noisy, batch_size=4, seed=5), 2)
    helped = epochs(ViewLoader(source, noisy, batch_size=4, seed=5, workers=workers), 2)
    assert len(alone) == 14
    assert all(same(*pair) for pair in zip(alone, helped, strict=True))
    assert any(batch["failures"] for batch in alone)
    other = epochs(ViewLoader(source, noisy, batch_size=4, seed=6), 2)
    assert not any(same(*pair) for pair in zip(alone, other, strict=True))


def test_batches_are_uint8_channels_last_with_index_and_label() -> None:
    for batch in ViewLoader(Numbers(8), plain, batch_size=4, seed=0):
        view = batch["views"]["view"]
        assert view.shape == (4, 3, 5, 7)
        assert view.dtype == torch.uint8
        assert view.is_contiguous(memory_format=torch.channels_last)
        assert torch.equal(view[:, 0, 0, 0].long(), batch["index"])
        assert torch.equal(batch["label"], batch["index"] % 2)


def test_an_epoch_shows_each_image_at_most_once_in_an_order_of_its_own() -> None:
    sampler = EpochSampler(length=103, batch_size=10, seed=0)
    orders = []
    for epoch in range(3):
        sampler.set_epoch(epoch)
        keys = [key for batch in sampler for key in batch]
        assert len(keys) == 100
        assert {key[0] for key in keys} == {epoch}
        assert len({key[1] for key in keys}) == 100
        orders.append([key[1] for key in keys])
    assert orders[0] != orders[1] != orders[2]


@pytest.mark.parametrize("world", [2, 5])
def test_ranks_joined_see_what_one_process_sees(world: int) -> None:
    alone = list(EpochSampler(length=47, batch_size=10, seed=1))
    ranks = [EpochSampler(47, 10, 1, rank, world) for rank in range(world)]
    joined = [list(chain(*parts)) for parts in zip(*ranks, strict=True)]
    assert joined == alone


def test_a_batch_that_cannot_be_is_refused() -> None:
    with pytest.raises(UsageError, match="a batch of 9 is larger than the data, which have 8"):
        check_batch(8, 9)
    with pytest.raises(UsageError, match="at least one image"):
        check_batch(8, 0)
    with pytest.raises(UsageError, match="10 cannot be divided evenly among 3 devices"):
        EpochSampler(100, 10, seed=0, world=3)


def test_a_bad_image_is_replaced_by_another_that_depends_on_the_key_alone() -> None:
    bad = frozenset(range(0, 40, 4))
    batches = epochs(ViewLoader(Numbers(40, bad), plain, batch_size=8, seed=2), 3)
    shown = torch.cat([batch["index"] for batch in batches])
    assert not bad & set(shown.tolist())
    reported = Counter(identity for batch in batches for identity, _ in batch["failures"])
    assert {f"number {i}" for i in bad} == set(reported)
    for batch in batches:
        assert torch.equal(batch["views"]["view"][:, 0, 0, 0].long(), batch["index"])
    # The replacement for a key is the same whatever else is in the batch.
    other = epochs(ViewLoader(Numbers(40, bad), plain, batch_size=20, seed=2), 3)
    assert torch.equal(shown, torch.cat([batch["index"] for batch in other]))


@pytest.mark.parametrize("workers", [0, 1])
def test_images_that_all_fail_end_the_run_with_one_sentence(workers: int) -> None:
    source = Numbers(8, bad=frozenset(range(8)))
    loader = ViewLoader(source, plain, batch_size=4, seed=0, workers=workers)
    with pytest.raises(RunError) as caught:
        next(iter(loader))
    loader.close()
    assert str(caught.value).startswith("20 images in a row could not be read; the last was number")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("taken", [0, 1, 4, 5])
def test_a_loaded_state_goes_on_with_the_next_batch(workers: int, taken: int) -> None:
    whole = epochs(ViewLoader(Numbers(23), noisy, batch_size=4, seed=0), 3)
    first = ViewLoader(Numbers(23), noisy, batch_size=4, seed=0, workers=workers)
    first.sampler.set_epoch(1)
    iterator = iter(first)
    for _ in range(taken):
        next(iterator)
    state = first.state_dict()
    first.close()
    assert state == {"epoch": 1, "batch": taken}
    second = ViewLoader(Numbers(23), noisy, batch_size=4, seed=0, workers=workers)
    second.load_state_dict(state)
    assert second.state_dict() == state
    assert len(second) == 5
    rest = list(second)
    second.sampler.set_epoch(2)
    assert second.state_dict() == {"epoch": 2, "batch": 0}
    rest += list(second)
    second.close()
    assert len(rest) == 10 - taken
    assert all(same(*pair) for pair in zip(whole[5 + taken :], rest, strict=True))


def test_a_loop_that_was_left_early_begins_anew() -> None:
    loader = ViewLoader(Numbers(23), noisy, batch_size=4, seed=0, workers=2)
    first = next(iter(loader))
    again = list(loader)
    loader.close()
    assert len(again) == 5
    assert same(first, again[0])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_workers_outlive_a_signal_to_the_whole_run(number: signal.Signals) -> None:
    loader = ViewLoader(Numbers(64), noisy, batch_size=2, seed=0, workers=2)
    iterator = iter(loader)
    # One batch of each worker: a worker that has sent none may not have set its handlers yet.
    next(iterator)
    next(iterator)
    workers = [worker.pid for worker in loader._loader._iterator._workers]  # type: ignore[union-attr]
    for pid in workers:
        os.kill(pid, number)
    time.sleep(0.2)
    assert sum(1 for _ in iterator) == 30
    loader.close()
    assert not [pid for pid in workers if Path(f"/proc/{pid}").exists()]


def test_a_script_that_leaves_its_loader_open_ends_at_once() -> None:
    script = (
        "from tests.data.test_loader import Numbers, ViewLoader, noisy\n"
        "loader = ViewLoader(Numbers(64), noisy, batch_size=2, seed=0, workers=2)\n"
        "iterator = iter(loader)\n"
        "next(iterator)\n"
        "print('read', flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"read\n"
    start = time.monotonic()
    assert process.wait(timeout=25) == 0
    assert time.monotonic() - start < 15
    process.stdout.close()
