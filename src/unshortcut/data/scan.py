"""Scanning data for unreadable images: all headers are read, and a sample is decoded."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unshortcut.data.failures import Failure
from unshortcut.data.source import BadImageError, ImageSource, Subset
from unshortcut.errors import UsageError
from unshortcut.progress import OnProgress
from unshortcut.randomness import generator

_CHUNK = 64
_LISTED = 10


@dataclass(frozen=True)
class ScanReport:
    """The result of a scan: the bad images, and an estimate of their share."""

    total: int
    bad_indices: NDArray[np.int64]
    """Sorted indices of the bad images."""
    bad: tuple[Failure, ...]
    """The bad images in the order of their indices."""
    bad_share: float
    """Estimated share of bad images: bad headers, plus the rate in the decoded sample."""

    @property
    def good_indices(self) -> NDArray[np.int64]:
        return np.setdiff1d(np.arange(self.total, dtype=np.int64), self.bad_indices)

    def check(self, max_share: float = 0.1) -> None:
        """Raise `UsageError`, with a list, if more than `max_share` of the images are bad."""
        if self.total == len(self.bad):
            raise UsageError(f"none of the {self.total} images can be read:\n{self._listing()}")
        if self.bad_share > max_share:
            raise UsageError(
                f"about {self.bad_share:.0%} of the {self.total} images cannot be read, more than "
                f"the {max_share:.0%} that are tolerated; {len(self.bad)} were found:\n"
                f"{self._listing()}"
            )

    def _listing(self) -> str:
        lines = [f"  {failure.identity}: {failure.reason}" for failure in self.bad[:_LISTED]]
        if len(self.bad) > _LISTED:
            lines.append(f"  and {len(self.bad) - _LISTED} more")
        return "\n".join(lines)


def scan(
    source: ImageSource,
    *,
    seed: int,
    sample: int = 256,
    threads: int = 8,
    on_progress: OnProgress | None = None,
) -> ScanReport:
    """Read the header of every image and decode a sample of `sample`, chosen by the seed.

    Of images that do not come from files, which have no headers, only the sample is checked.
    `on_progress(done, total)` is called from this thread.
    """
    total = len(source)
    chosen = np.sort(generator(seed, "scan").permutation(total)[:sample])
    headers = np.arange(total if source.has_headers else 0)

    def report(done: int) -> None:
        if on_progress is not None:
            on_progress(done, len(headers) + len(chosen))

    with ThreadPoolExecutor(threads) as pool:
        bad = _run(pool, source.check_header, headers, report)
        decodable = np.array([i for i in chosen if int(i) not in bad], dtype=np.int64)
        checked = len(headers) + len(chosen) - len(decodable)
        undecodable = _run(
            pool,
            lambda index: source.image(index).pixels(),
            decodable,
            lambda done: report(checked + done),
        )
    header_share = len(bad) / total
    sample_share = len(undecodable) / max(len(decodable), 1)
    found = dict(sorted((bad | undecodable).items()))
    return ScanReport(
        total=total,
        bad_indices=np.array(list(found), dtype=np.int64),
        bad=tuple(Failure(source.identity(i), reason) for i, reason in found.items()),
        bad_share=header_share + (1 - header_share) * sample_share,
    )


def readable(source: ImageSource, report: ScanReport) -> ImageSource:
    """The source without the images that a scan has found to be bad."""
    return Subset(source, report.good_indices) if report.bad else source


def _run(
    pool: ThreadPoolExecutor,
    check: Callable[[int], Any],
    indices: NDArray[np.int64],
    on_done: Callable[[int], None],
) -> dict[int, str]:
    """Check images in chunks; returns the reason for each bad one by index."""

    def check_chunk(chunk: NDArray[np.int64]) -> dict[int, str]:
        found = {}
        for index in map(int, chunk):
            try:
                check(index)
            except BadImageError as error:
                found[index] = str(error)
        return found

    bad: dict[int, str] = {}
    done = 0
    chunks = [indices[start : start + _CHUNK] for start in range(0, len(indices), _CHUNK)]
    for chunk, found in zip(chunks, pool.map(check_chunk, chunks), strict=True):
        bad |= found
        done += len(chunk)
        on_done(done)
    return bad
