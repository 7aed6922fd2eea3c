"""Build a copy of a data set: find the missing files, pass them to an engine, count the results."""

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
from rich.console import Console

from unshortcut.arrays import IndexArray
from unshortcut.build.copy_settings import CopySettings
from unshortcut.build.destination import Writer, check_destination, sole_writer
from unshortcut.build.inputs import Shards, open_inputs
from unshortcut.build.job import Job, Outcome, Tally
from unshortcut.build.local import run_local
from unshortcut.build.manifest import Manifest
from unshortcut.build.ray_engine import import_ray, run_ray
from unshortcut.build.shard_job import ShardJob
from unshortcut.build.signals import StopSignal, stop_on_signals
from unshortcut.build.tree_job import TreeJob
from unshortcut.data.failures import Failure
from unshortcut.data.naming import Data
from unshortcut.errors import InterruptedRunError, RunError, UsageError
from unshortcut.progress import bar

Engine = Literal["local", "ray"]
RunUnits = Callable[[Job, IndexArray], Generator[Outcome]]
"""An engine with its options set: makes the given units of a job."""

_THREADS = 16
_LARGEST_CHUNK = 1024
_SLOW_CHECK = 2e-4
"""Seconds per unit above which the time goes into waiting for the file system."""
_SIZED = 1000
"""Number of files whose sizes are read to estimate the total size."""


@dataclass(frozen=True)
class BuildResult:
    """The outcome of a run."""

    destination: Path
    made: int
    """Number of copies written by this run."""
    kept: int
    """Number of copies written by an earlier run."""
    failures: tuple[Failure, ...]
    """Images that could not be copied, with the reasons."""
    seconds: float

    @property
    def images_per_second(self) -> float:
        return self.made / self.seconds if self.seconds > 0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain values for `result.json`."""
        return {
            "made": self.made,
            "kept": self.kept,
            "failed": len(self.failures),
            "images_per_second": round(self.images_per_second, 2),
        }


def build_dataset(
    command: str,
    source: Data,
    destination: str | Path,
    settings: CopySettings,
    *,
    workers: int | None = None,
    engine: Engine = "local",
    address: str | None = None,
    console: Console | None = None,
) -> BuildResult:
    """Build a data set, or continue an interrupted run; see `filter_data` for the arguments.

    Nothing is written before the whole request has been checked.
    """
    run_units = choose_engine(engine, workers, address)
    # Workers on a cluster have other working directories.
    folder = Path(destination).expanduser().absolute()
    inputs = open_inputs(source)
    check_destination(folder, inputs.disk_paths())
    Manifest(folder, command, inputs.name, settings.parameters()).check()
    writer = Writer(folder)
    job: Job
    if isinstance(inputs, Shards):
        job = ShardJob(inputs, settings, writer)
    else:
        job = TreeJob(inputs, settings, writer)
    job.check()
    settings.warm_up()
    return execute(job, command, inputs.name, settings.parameters(), run_units, console)


def execute(
    job: Job,
    command: str,
    source: str,
    parameters: dict[str, Any],
    run_units: RunUnits,
    console: Console | None,
) -> BuildResult:
    """Make what a checked job has not made yet, alone in its folder, until a signal stops it."""
    folder = job.writer.destination
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot create the folder {folder}: {error.strerror}") from None
    console = console or Console(stderr=True)
    try:
        with sole_writer(folder), stop_on_signals():
            # Check again: another run may have been writing there until now.
            check_destination(folder, ())
            manifest = Manifest(folder, command, source, parameters)
            manifest.check(warn=False)
            return _run(job, manifest, run_units, console, command)
    except StopSignal as stop:
        raise InterruptedRunError(
            "stopped; run the same command again to continue", stop.number
        ) from None


def choose_engine(engine: Engine, workers: int | None, address: str | None) -> RunUnits:
    if workers is not None and workers < 1:
        raise UsageError(f"workers must be at least 1, not {workers}")
    if engine == "ray":
        import_ray()
        return partial(run_ray, workers=workers, address=address)
    if engine != "local":
        raise UsageError(f"engine must be 'local' or 'ray', not '{engine}'")
    if address is not None:
        raise UsageError("an address can only be given with the engine 'ray'")
    return partial(run_local, workers=workers)


def _run(
    job: Job, manifest: Manifest, run_units: RunUnits, console: Console, label: str
) -> BuildResult:
    """Make the units that do not exist yet."""
    folder = job.writer.destination
    pending, earlier = _find_pending(job) if manifest.resumes else (_all(job), Tally())
    if manifest.finished and len(pending) == 0:
        return BuildResult(folder, 0, earlier.made, tuple(earlier.failures), 0.0)
    manifest.begin()
    _warn_if_space_is_low(job, pending)
    start = time.monotonic()
    job.writer.start()
    try:
        now = _collect(run_units(job, pending), job, earlier, console, label)
        made, failures = earlier.made + now.made, sorted(earlier.failures + now.failures)
        if made == 0 and not failures:
            raise RunError(f"there are no images in {manifest.identity['source']}")
        if made == 0:
            path, reason = failures[0]
            raise RunError(f"none of the {len(failures)} images could be read; {path}: {reason}")
        job.finish()
    finally:
        job.writer.clean_up()
    manifest.finish(made, failures)
    return BuildResult(folder, now.made, earlier.made, tuple(failures), time.monotonic() - start)


def _all(job: Job) -> IndexArray:
    return np.arange(len(job), dtype=np.int64)


def _find_pending(job: Job) -> tuple[IndexArray, Tally]:
    """The units still to be made, and the outcomes of those that earlier runs made."""
    size = max(1, min(_LARGEST_CHUNK, len(job) // _THREADS))
    chunks = np.split(_all(job), range(size, len(job), size))
    pending: list[int] = []
    found = Tally()
    start = time.perf_counter()
    first = _earlier_outcomes(job, chunks[0])
    is_slow = time.perf_counter() - start > _SLOW_CHECK * len(chunks[0])
    # Threads help with a network file system; on a local disk they are slower than one.
    pool = ThreadPoolExecutor(_THREADS if is_slow else 1)
    try:
        others = pool.map(partial(_earlier_outcomes, job), chunks[1:])
        for chunk, outcomes in zip(chunks, chain([first], others), strict=True):
            for unit, earlier in zip(chunk.tolist(), outcomes, strict=True):
                if earlier is None:
                    pending.append(unit)
                else:
                    found.add(earlier)
    finally:
        pool.shutdown(cancel_futures=True)
    return np.array(pending, dtype=np.int64), found


def _earlier_outcomes(job: Job, units: IndexArray) -> list[Outcome | None]:
    return [job.earlier(unit) for unit in units.tolist()]


def _collect(
    outcomes: Generator[Outcome], job: Job, earlier: Tally, console: Console, label: str
) -> Tally:
    """Add up all outcomes and show progress; errors say how many images are done."""
    total = job.num_images() - earlier.done
    now = Tally()

    def so_far() -> str:
        done, of = earlier.done + now.done, earlier.done + max(total, now.done)
        return f"{done} of {of} images are done; run the same command again to continue"

    try:
        with closing(outcomes), bar(console, label, unit="images") as show:
            for outcome in outcomes:
                now.add(outcome)
                show(now.seen, max(total, now.seen))
    except StopSignal as stop:
        raise InterruptedRunError(f"stopped: {so_far()}", stop.number) from None
    except RunError as error:
        raise RunError(f"{error}: {so_far()}") from None
    return now


def _warn_if_space_is_low(job: Job, pending: IndexArray) -> None:
    """Copies are about as large as their originals; PNG is larger, smoothed images smaller."""
    some = pending[:: max(1, len(pending) // _SIZED)].tolist()
    sizes = [size for size in map(job.size, some) if size is not None]
    if not sizes:
        return
    needed = statistics.fmean(sizes) * len(pending) * job.copies
    free = shutil.disk_usage(job.writer.destination).free
    if needed > free:
        warnings.warn(
            f"the copies need about {needed / 1e9:.1f} GB, but only {free / 1e9:.1f} GB are free; "
            "if the run stops, free some space and run the same command again",
            stacklevel=2,
        )
