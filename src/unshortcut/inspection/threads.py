"""A function applied to many items by threads, with the results in order."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from unshortcut.inference.reading import available_workers

T = TypeVar("T")
R = TypeVar("R")


def in_threads(function: Callable[[T], R], items: Sequence[T], workers: int | None) -> list[R]:
    """The results for all items; worth it where the function releases Python's lock."""
    with ThreadPoolExecutor(max(1, available_workers(workers))) as pool:
        return list(pool.map(function, items))
