"""The engine for one machine: one process per core, each with a pipe to the parent."""

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from unshortcut.arrays import IndexArray
from unshortcut.build.job import Job, Outcome, run_units, use_one_thread
from unshortcut.errors import RunError
from unshortcut.processes import end_with_parent

_CHUNKS_A_WORKER = 64
_LARGEST_CHUNK = 16
_AHEAD = 2
"""Number of chunks a worker has at a time, so that it never waits for the next one."""
_REPORT_SECONDS = 0.5


def run_local(job: Job, units: IndexArray, workers: int | None = None) -> Generator[Outcome]:
    """Make units in processes and yield their outcomes; closing the generator ends the processes.

    As in torch's loader, processes are forked on Linux and share what the parent has loaded and
    compiled. Raises `RunError` if a worker dies.
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
    """Number of cores that this process may use."""
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
    """Wait until some busy workers have sent a message or have died; return their connections."""
    ready = wait([connection for connection, count in busy.items() if count])
    return [connection for connection in ready if isinstance(connection, Connection)]


def _receive(connection: Connection) -> tuple[Outcome, bool]:
    try:
        message: tuple[Outcome, bool] = connection.recv()
    except (EOFError, OSError):
        raise _died() from None
    return message


def _died() -> RunError:
    return RunError("a worker was killed, possibly for lack of memory")


def _work(job: Job, units: IndexArray, connection: Connection) -> None:
    """A worker: receives chunks, sends pairs (outcome, whether the chunk is finished)."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the parent handles signals and kills the workers
    end_with_parent()
    use_one_thread()
    with suppress(EOFError, OSError):  # the parent is gone
        while True:
            start, stop = connection.recv()
            outcome, sent = Outcome(), time.monotonic()
            for more in run_units(job, units[start:stop].tolist()):
                outcome = outcome.plus(more)
                if time.monotonic() - sent > _REPORT_SECONDS:
                    connection.send((outcome, False))
                    outcome, sent = Outcome(), time.monotonic()
            connection.send((outcome, True))
