"""A run that makes a data set: what is missing is found, handed to an engine, and counted."""

import shutil
import statistics
import time
import warnings
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from unshortcut.build.copying import Copying
from unshortcut.build.destination import Writer, check_destination, sole_writer
from unshortcut.build.job import Job, Outcome, Tally
from unshortcut.build.local import run_local
from unshortcut.build.manifest import Manifest
from unshortcut.build.opening import Data, open_origin
from unshortcut.build.origin import Shards
from unshortcut.build.ray_engine import import_ray, run_ray
from unshortcut.build.shard_job import ShardJob
from unshortcut.build.stopping import Stopped, signals_stop
from unshortcut.build.tree_job import TreeJob
from unshortcut.data.failures import Failure
from unshortcut.errors import InterruptedRunError, RunError, UsageError
from unshortcut.progress import bar

Engine = Literal["local", "ray"]
Units = NDArray[np.int64]
Run = Callable[[Job, Units], Generator[Outcome]]
"""An engine that is told all but the work."""

_THREADS = 16
_LARGEST_LOOK = 1024
_SLOW_LOOK = 2e-4
"""Seconds a unit from which on it is the file system that is waited for."""
_SIZED = 1000
"""Of so many files the size is asked to estimate that of all."""


@dataclass(frozen=True)
class Made:
    """What a run did."""

    destination: Path
    made: int
    """Copies that this run made."""
    kept: int
    """Copies that an earlier run had made."""
    failures: tuple[Failure, ...]
    """Images without a copy, and why."""
    seconds: float

    @property
    def images_per_second(self) -> float:
        return self.made / self.seconds if self.seconds > 0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The plain form for `result.json`."""
        return {
            "made": self.made,
            "kept": self.kept,
            "failed": len(self.failures),
            "images_per_second": round(self.images_per_second, 2),
        }


def make(
    command: str,
    source: Data,
    destination: str | Path,
    copying: Copying,
    *,
    workers: int | None = None,
    engine: Engine = "local",
    address: str | None = None,
    console: Console | None = None,
) -> Made:
    """Make a data set, or what an earlier run left of it; `make.py` tells what the arguments are.

    Nothing is written before all that can be wrong with the request has been looked at.
    """
    run = _engine(engine, workers, address)
    # Workers on a cluster start in folders of their own.
    folder = Path(destination).expanduser().absolute()
    origin = open_origin(source)
    check_destination(folder, origin.places())
    Manifest(folder, command, origin.name, copying.parameters()).check()
    writer = Writer(folder)
    job: Job
    if isinstance(origin, Shards):
        job = ShardJob(origin, copying, writer)
    else:
        job = TreeJob(origin, copying, writer)
    job.check()
    copying.warm_up()
    _make_folder(folder)
    console = console or Console(stderr=True)
    try:
        with sole_writer(folder), signals_stop():
            # Looked at again: another run may have written there until now.
            check_destination(folder, ())
            manifest = Manifest(folder, command, origin.name, copying.parameters())
            manifest.check(warn=False)
            return _run(job, manifest, run, console, command)
    except Stopped as stopped:
        raise InterruptedRunError("stopped; the same command goes on", stopped.number) from None


def _engine(engine: Engine, workers: int | None, address: str | None) -> Run:
    if workers is not None and workers < 1:
        raise UsageError(f"workers must be at least 1, not {workers}")
    if engine == "ray":
        import_ray()
        return partial(run_ray, workers=workers, address=address)
    if engine != "local":
        raise UsageError(f"the engine is 'local' or 'ray', not '{engine}'")
    if address is not None:
        raise UsageError("an address is that of a Ray cluster: it goes with the engine 'ray'")
    return partial(run_local, workers=workers)


def _run(job: Job, manifest: Manifest, run: Run, console: Console, label: str) -> Made:
    """Make what is not there yet."""
    folder = job.writer.destination
    pending, earlier = _look(job) if manifest.resumes else (_all(job), Tally())
    if manifest.finished and len(pending) == 0:
        return Made(folder, 0, earlier.made, tuple(earlier.failures), 0.0)
    manifest.begin()
    _warn_of_little_space(job, pending)
    start = time.monotonic()
    job.writer.start()
    try:
        now = _follow(run(job, pending), job, earlier, console, label)
    finally:
        job.writer.clean_up()
    made, failures = earlier.made + now.made, sorted(earlier.failures + now.failures)
    if made == 0 and not failures:
        raise RunError(f"there are no images in {manifest.identity['source']}")
    if made == 0:
        path, reason = failures[0]
        raise RunError(f"none of the {len(failures)} images could be read; {path}: {reason}")
    manifest.finish(made, failures)
    return Made(folder, now.made, earlier.made, tuple(failures), time.monotonic() - start)


def _all(job: Job) -> Units:
    return np.arange(len(job), dtype=np.int64)


def _look(job: Job) -> tuple[Units, Tally]:
    """The units that are still to be made, and what earlier runs made of the others."""
    size = max(1, min(_LARGEST_LOOK, len(job) // _THREADS))
    parts = np.split(_all(job), range(size, len(job), size))
    pending: list[int] = []
    found = Tally()
    start = time.perf_counter()
    first = _look_at(job, parts[0])
    waits = time.perf_counter() - start > _SLOW_LOOK * len(parts[0])
    # On a local disk threads would only be in each other's way.
    pool = ThreadPoolExecutor(_THREADS if waits else 1)
    try:
        others = pool.map(partial(_look_at, job), parts[1:])
        for part, answers in zip(parts, chain([first], others), strict=True):
            for unit, earlier in zip(part.tolist(), answers, strict=True):
                if earlier is None:
                    pending.append(unit)
                else:
                    found.add(earlier)
    finally:
        pool.shutdown(cancel_futures=True)
    return np.array(pending, dtype=np.int64), found


def _look_at(job: Job, units: Units) -> list[Outcome | None]:
    return [job.earlier(unit) for unit in units.tolist()]


def _follow(
    outcomes: Generator[Outcome], job: Job, earlier: Tally, console: Console, label: str
) -> Tally:
    """All outcomes together; what ends the run says how many images are done."""
    total = job.images() - earlier.done
    now = Tally()

    def so_far() -> str:
        done, of = earlier.done + now.done, earlier.done + max(total, now.done)
        return f"{done} of {of} images are done, and the same command goes on from there"

    try:
        with closing(outcomes), bar(console, label, unit="images") as tell:
            for outcome in outcomes:
                now.add(outcome)
                tell(now.seen, max(total, now.seen))
    except Stopped as stopped:
        raise InterruptedRunError(f"stopped: {so_far()}", stopped.number) from None
    except RunError as error:
        raise RunError(f"{error}: {so_far()}") from None
    return now


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder {folder}: {error.strerror}") from None


def _warn_of_little_space(job: Job, pending: Units) -> None:
    """Copies take about the space of their originals, more as PNG and less when smoothed."""
    some = pending[:: max(1, len(pending) // _SIZED)].tolist()
    sizes = [size for size in map(job.size, some) if size is not None]
    if not sizes:
        return
    needed = statistics.fmean(sizes) * len(pending) * (2 if job.copying.double else 1)
    free = shutil.disk_usage(job.writer.destination).free
    if needed > free:
        warnings.warn(
            f"the copies take about {needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free; "
            "if that does not do, free some, and the same command goes on",
            stacklevel=2,
        )
