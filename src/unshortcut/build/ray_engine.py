"""The engine for a cluster: the same units, spread by Ray Data over all of its machines.

Every machine needs this package, and the source and the destination under the same paths.
"""

import importlib
import logging
import math
import os
import pickle
import signal
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unshortcut.build.job import Job, Outcome, run_units, use_one_thread
from unshortcut.build.local import cores
from unshortcut.errors import RunError, UsageError

Units = NDArray[np.int64]

_TASKS_A_WORKER = 16
_LARGEST_TASK = 64


def run_ray(
    job: Job, units: Units, workers: int | None = None, address: str | None = None
) -> Generator[Outcome]:
    """Make units in Ray tasks; outcomes come as tasks end.

    Args:
        workers: how many tasks run at a time; by default as many as there are cores.
        address: of the cluster, such as `auto`; by default that of `RAY_ADDRESS`, and without
            either a cluster of this machine's cores is started for the run.

    A task whose worker dies is given to another one by Ray.
    """
    ray = import_ray()
    if len(units) == 0:
        return
    with _cluster(ray, workers, address):
        cpus = max(1, int(ray.cluster_resources().get("CPU", 1)))
        running = min(workers or cpus, cpus)
        # Tasks that wait for a core keep all of them busy while the driver counts; only where
        # fewer than all may be used must none wait.
        submitted = 2 * cpus if running == cpus else running
        size = max(1, min(_LARGEST_TASK, len(units) // (running * _TASKS_A_WORKER)))
        numbers = ray.data.range(
            len(units), override_num_blocks=math.ceil(len(units) / size), concurrency=submitted
        )
        outcomes = numbers.map_batches(
            _work,
            fn_args=(ray.put((job, units)),),
            batch_size=None,
            compute=ray.data.TaskPoolStrategy(size=submitted),
        )
        _quieten(outcomes.context)
        try:
            for batch in outcomes.iter_batches(batch_size=None, prefetch_batches=0):
                for packed in batch["outcome"]:
                    yield pickle.loads(packed)
        except ray.exceptions.RayError as error:
            reason = str(error).strip().split("\n")[-1]
            raise RunError(f"Ray gave up on a task: {reason}") from error


def import_ray() -> Any:
    """The package, or a `UsageError` that says how to get it."""
    try:
        importlib.import_module("ray.data")
        return importlib.import_module("ray")
    except ImportError:
        raise UsageError("--engine ray needs Ray: pip install 'unshortcut[cluster]'") from None


def _work(batch: dict[str, NDArray[np.int64]], work: Any) -> dict[str, list[bytes]]:
    """A task: positions in the list of units in, one outcome out."""
    job, units = _fetch(work)
    outcome = Outcome()
    for more in run_units(job, units[batch["id"]].tolist()):
        outcome = outcome.plus(more)
    return {"outcome": [pickle.dumps(outcome)]}


@lru_cache(maxsize=1)
def _fetch(work: Any) -> tuple[Job, Units]:
    """The job out of the object store, once for all tasks of a worker."""
    use_one_thread()
    fetched: tuple[Job, Units] = import_ray().get(work)
    return fetched


@contextmanager
def _cluster(ray: Any, workers: int | None, address: str | None) -> Iterator[None]:
    """A connection to the cluster, for the run alone unless there was one before."""
    if ray.is_initialized():
        yield
        return
    address = address or os.environ.get("RAY_ADDRESS")
    settings: dict[str, Any] = {"address": address}
    if address in (None, "local"):
        settings = {"address": "local", "num_cpus": workers or cores(), "include_dashboard": False}
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    in_main = threading.current_thread() is threading.main_thread()
    on_term = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(logging_level=logging.ERROR, log_to_driver=False, **settings)
    except (ConnectionError, ValueError, RuntimeError) as error:
        reason = str(error).strip().split("\n")[0]
        raise RunError(f"no Ray cluster at {address or 'this machine'}: {reason}") from error
    if in_main:
        signal.signal(signal.SIGTERM, on_term)  # Ray has put its own in place
    try:
        yield
    finally:
        ray.shutdown()


def _quieten(context: Any) -> None:
    """Settings of one data set's execution."""
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    # There is one step alone, for which nothing has to be set aside.
    context.op_resource_reservation_enabled = False
    # A shard may take long, and tells nothing on the way.
    context.execution_no_progress_timeout_s = -1
    logging.getLogger("ray.data").setLevel(logging.ERROR)
