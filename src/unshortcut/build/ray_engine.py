"""The engine for a cluster: Ray Data distributes the units over all machines.

Every machine needs this package, and must see source and destination under the same paths.
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

from unshortcut.arrays import IndexArray
from unshortcut.build.job import Job, Outcome, run_units, use_one_thread
from unshortcut.build.local import cores
from unshortcut.errors import RunError, UsageError

_TASKS_A_WORKER = 16
_LARGEST_TASK = 64


def run_ray(
    job: Job, units: IndexArray, workers: int | None = None, address: str | None = None
) -> Generator[Outcome]:
    """Make units in Ray tasks and yield an outcome per task.

    Args:
        workers: number of tasks that run at a time; by default the number of cores.
        address: address of the cluster, such as `auto`; by default `RAY_ADDRESS`. Without either,
            a cluster with this machine's cores is started for the run.

    If a worker dies, Ray gives its task to another one.
    """
    ray = import_ray()
    if len(units) == 0:
        return
    with _cluster(ray, workers, address):
        cpus = max(1, int(ray.cluster_resources().get("CPU", 1)))
        running = min(workers or cpus, cpus)
        # Submitting more tasks than there are cores keeps all cores busy. If fewer than all cores
        # may be used, the number of submitted tasks is what limits them.
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
    """Import Ray, or raise a `UsageError` that says how to install it."""
    try:
        importlib.import_module("ray.data")
        return importlib.import_module("ray")
    except ImportError:
        raise UsageError("--engine ray needs Ray: pip install 'unshortcut[cluster]'") from None


def _work(batch: dict[str, NDArray[np.int64]], work: Any) -> dict[str, list[bytes]]:
    """A task: takes indices into the list of units, returns one outcome."""
    job, units = _fetch(work)
    outcome = Outcome()
    for more in run_units(job, units[batch["id"]].tolist()):
        outcome = outcome.plus(more)
    return {"outcome": [pickle.dumps(outcome)]}


@lru_cache(maxsize=1)
def _fetch(work: Any) -> tuple[Job, IndexArray]:
    """Read the job from the object store, once for all tasks of a worker."""
    use_one_thread()
    fetched: tuple[Job, IndexArray] = import_ray().get(work)
    return fetched


@contextmanager
def _cluster(ray: Any, workers: int | None, address: str | None) -> Iterator[None]:
    """Connect to the cluster for the run, unless a connection exists already."""
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
        signal.signal(signal.SIGTERM, on_term)  # Ray has replaced it
    try:
        yield
    finally:
        ray.shutdown()


def _quieten(context: Any) -> None:
    """Turn off Ray's progress output and timeouts."""
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    # There is only one operator, so no resources have to be reserved.
    context.op_resource_reservation_enabled = False
    # A shard may take a long time and reports no progress.
    context.execution_no_progress_timeout_s = -1
    logging.getLogger("ray.data").setLevel(logging.ERROR)
