"""Reading ahead: in order, in any number of threads, and stopped early where that is asked for."""

import threading
import time

import pytest

from unshortcut.data.failures import Failure
from unshortcut.data.source import BadImageError
from unshortcut.errors import UsageError
from unshortcut.inference.reading import Unreadable, available_workers, read_batches


def read_all(read, total: int, workers: int | None = 2, max_share: float | None = None, **more):  # type: ignore[no-untyped-def]
    unreadable = Unreadable(total, max_share)
    return list(read_batches(read, str, unreadable, batch_size=4, workers=workers, **more))


@pytest.mark.parametrize("workers", [0, 1, 3, None])
def test_images_come_in_order_however_long_each_takes(workers: int | None) -> None:
    def read(position: int) -> int:
        time.sleep(0.002 * (position % 3))
        return 10 * position

    batches = read_all(read, 10, workers)
    assert [positions for positions, _ in batches] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert [image for _, images in batches for image in images] == list(range(0, 100, 10))


def test_the_next_batch_is_read_while_one_is_in_use() -> None:
    read = [threading.Event() for _ in range(8)]
    batches = read_batches(
        lambda position: read[position].set(), str, Unreadable(8), batch_size=4, workers=1
    )
    next(batches)
    assert read[7].wait(timeout=10)
    batches.close()


def test_progress_is_reported_after_each_batch_was_used() -> None:
    seen: list[tuple[int, int]] = []
    batches = read_batches(
        lambda position: position,
        str,
        Unreadable(6),
        batch_size=4,
        on_progress=lambda *at: seen.append(at),
    )
    next(batches)
    assert seen == []
    list(batches)
    assert seen == [(4, 6), (6, 6)]


def test_too_many_unreadable_images_end_the_reading_early() -> None:
    started = []

    def read(position: int) -> int:
        started.append(position)
        raise BadImageError("torn")

    with pytest.raises(UsageError, match=r"21 of 1000 images cannot be read.*'0': torn.*2\.0%"):
        read_all(read, 1000, max_share=0.02)
    assert len(started) < 100


def test_a_fault_in_the_reading_itself_is_not_taken_for_a_bad_image() -> None:
    def read(position: int) -> int:
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        read_all(read, 10)


def test_a_batch_without_a_readable_image_is_passed_over() -> None:
    def read(position: int) -> int:
        if position < 4:
            raise BadImageError("torn")
        return position

    with pytest.warns(UserWarning, match="4 of 6 .* left out"):
        (batch,) = read_all(read, 6)
    assert batch[0] == [4, 5]


def test_the_default_is_the_cores_at_hand_and_nonsense_is_refused() -> None:
    assert available_workers() >= 1
    assert available_workers(3) == 3
    with pytest.raises(UsageError, match="at least 0"):
        available_workers(-1)
    with pytest.raises(UsageError, match="between 0 and 1"):
        Unreadable(10, 1.5)


def test_a_share_of_zero_allows_none() -> None:
    with pytest.raises(UsageError):
        Unreadable(10, 0.0).add(3, Failure("c.png", "torn"))
