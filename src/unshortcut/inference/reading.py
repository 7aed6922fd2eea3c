"""Images read ahead in threads while a model runs; those that cannot be read are left out."""

import os
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from unshortcut.data.failures import Failure
from unshortcut.data.source import BadImageError
from unshortcut.errors import UsageError
from unshortcut.progress import OnProgress

T = TypeVar("T")

_BATCHES_AHEAD = 2
_MAX_CHUNK = 8


class Unreadable:
    """Images that could not be read, with the reasons, and the share of them that is allowed."""

    def __init__(self, total: int, max_share: float | None = None) -> None:
        if max_share is not None and not 0 <= max_share <= 1:
            raise UsageError(f"max_unreadable must be between 0 and 1, not {max_share}")
        self.total = total
        self.max_share = max_share
        self.failures: dict[int, Failure] = {}  # by position, in the order of their discovery

    def add(self, position: int, failure: Failure) -> None:
        """Record an image; a `UsageError` as soon as there are more than allowed."""
        self.failures[position] = failure
        if self.max_share is not None and len(self.failures) > self.max_share * self.total:
            raise UsageError(f"{self._message()}. At most {self.max_share:.1%} may be unreadable")

    def report(self) -> None:
        """Warn of unreadable images; a `UsageError` if there is no other."""
        if not self.failures:
            return
        if len(self.failures) == self.total:
            raise UsageError(self._message())
        warnings.warn(f"{self._message()}; they are left out", stacklevel=3)

    def _message(self) -> str:
        first = next(iter(self.failures.values()))
        return (
            f"{len(self.failures)} of {self.total} images cannot be read, "
            f"the first is '{first.identity}': {first.reason}"
        )


def read_batches(
    read: Callable[[int], T],
    identity: Callable[[int], str],
    unreadable: Unreadable,
    *,
    batch_size: int = 64,
    workers: int | None = None,
    on_progress: OnProgress | None = None,
) -> Iterator[tuple[list[int], list[T]]]:
    """Read images 0 to `unreadable.total` in order, the next batches while one is in use.

    Yields the positions and the images of each batch, without those that cannot be read.

    Args:
        read: reads the image at a position, in any thread; raises `BadImageError`.
        identity: what names the image at a position to a person.
        unreadable: records the images that are left out.
        workers: number of threads, by default that of the available cores. 0 reads in the
            calling thread. The result does not depend on it.
        on_progress: called with (images done, images in all) after each batch.
    """
    total = unreadable.total
    every = range(total)
    batches = [every[start : start + batch_size] for start in range(0, total, batch_size)]
    for positions, found in _read_ahead(read, batches, workers):
        images: dict[int, T] = {}
        for position, image in zip(positions, found, strict=True):
            if isinstance(image, BadImageError):
                unreadable.add(position, Failure(identity(position), str(image)))
            else:
                images[position] = image
        if images:
            yield list(images), list(images.values())
        if on_progress:
            on_progress(positions.stop, total)
    unreadable.report()


def available_workers(workers: int | None = None) -> int:
    """The number of threads: as given, or that of the cores that this process may use."""
    if workers is None:
        cores = getattr(os, "sched_getaffinity", None)  # not on every system
        return len(cores(0)) if cores else os.cpu_count() or 1
    if workers < 0:
        raise UsageError(f"workers must be at least 0, not {workers}")
    return workers


def _read_ahead(
    read: Callable[[int], T], batches: Sequence[range], workers: int | None
) -> Iterator[tuple[range, list[T | BadImageError]]]:
    def read_some(positions: range) -> list[T | BadImageError]:
        found: list[T | BadImageError] = []
        for position in positions:
            try:
                found.append(read(position))
            except BadImageError as error:
                found.append(error)
        return found

    threads = available_workers(workers)
    if threads == 0:
        for batch in batches:
            yield batch, read_some(batch)
        return
    # Threads and not processes: decoding and resizing hold no lock, and nothing is copied.
    pool = ThreadPoolExecutor(threads, thread_name_prefix="read")
    waiting: deque[tuple[range, list[Future[list[T | BadImageError]]]]] = deque()
    try:
        for number in range(len(batches) + _BATCHES_AHEAD):
            if number < len(batches):
                batch = batches[number]
                size = min(_MAX_CHUNK, max(1, len(batch) // (4 * threads)))
                chunks = [batch[start : start + size] for start in range(0, len(batch), size)]
                waiting.append((batch, [pool.submit(read_some, chunk) for chunk in chunks]))
            if number >= _BATCHES_AHEAD and waiting:
                batch, parts = waiting.popleft()
                yield batch, [image for part in parts for image in part.result()]
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
