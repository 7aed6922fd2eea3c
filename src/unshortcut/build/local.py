"""The engine for one machine: a process a core, each with a pipe to the one that counts."""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

import numpy as np
from numpy.typing import NDArray

from unshortcut.build.job import Job, Outcome, run_units, use_one_thread
from unshortcut.errors import RunError

Units = NDArray[np.int64]

_CHUNKS_A_WORKER = 64
_LARGEST_CHUNK = 16
_AHEAD = 2
"""Chunks that a worker has at a time, so that it never waits for the next one."""
_REPORT_SECONDS = 0.5


def run_local(job: Job, units: Units, workers: int | None = None) -> Generator[Outcome]:
    """Make units in processes; outcomes come as they are told. Closing it ends the processes.

    Processes are forked on Linux, as torch's loader does: they share what the parent has loaded
    and compiled. Raises `RunError` where a worker dies.
    """
    workers = min(workers or cores(), len(units))
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    size = max(1, min(_LARGEST_CHUNK, len(units) // (max(1, workers) * _CHUNKS_A_WORKER)))
    chunks = ((start, min(start + size, len(units))) for start in range(0, len(units), size))
    crew: dict[Connection, BaseProcess] = {}
    busy: dict[Connection, int] = {}
    try:
        for _ in range(workers):
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(job, units, theirs), daemon=True)  # type: ignore[attr-defined]
            process.start()
            theirs.close()
            crew[ours] = process
            busy[ours] = 0
        for _ in range(_AHEAD):
            for connection in crew:
                _hand_out(connection, chunks, busy)
        while any(busy.values()):
            for connection in _ready(busy):
                outcome, finished = _receive(connection)
                if finished:
                    busy[connection] -= 1
                    _hand_out(connection, chunks, busy)
                yield outcome
    finally:
        for process in crew.values():
            process.kill()
        for connection, process in crew.items():
            process.join()
            connection.close()


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _hand_out(
    connection: Connection, chunks: Iterator[tuple[int, int]], busy: dict[Connection, int]
) -> None:
    chunk = next(chunks, None)
    if chunk is not None:
        try:
            connection.send(chunk)
        except OSError:
            raise _died() from None
        busy[connection] += 1


def _ready(busy: dict[Connection, int]) -> list[Connection]:
    """Wait for the busy workers; those that have told something, or have died."""
    ready = wait([connection for connection, count in busy.items() if count])
    return [connection for connection in ready if isinstance(connection, Connection)]


def _receive(connection: Connection) -> tuple[Outcome, bool]:
    try:
        told: tuple[Outcome, bool] = connection.recv()
    except (EOFError, OSError):
        raise _died() from None
    return told


def _died() -> RunError:
    return RunError("a worker was killed, for lack of memory perhaps")


def _work(job: Job, units: Units, connection: Connection) -> None:
    """The life of a worker: chunks in, (outcome, whether the chunk is finished) out."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the parent decides, and kills
    threading.Thread(target=_end_with_parent, daemon=True).start()
    use_one_thread()
    with suppress(EOFError, OSError):  # the parent is gone
        while True:
            start, stop = connection.recv()
            outcome, told = Outcome(), time.monotonic()
            for more in run_units(job, units[start:stop].tolist()):
                outcome = outcome.plus(more)
                if time.monotonic() - told > _REPORT_SECONDS:
                    connection.send((outcome, False))
                    outcome, told = Outcome(), time.monotonic()
            connection.send((outcome, True))


def _end_with_parent() -> None:
    """Where the parent is killed nobody else would tell its workers."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
