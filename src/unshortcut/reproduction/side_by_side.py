"""Trainings side by side: a process each, with one thread and low priority.

Every process goes through the same list of trainings and takes those that no other process holds
(`locks.locked`), so a training is never run twice, and one whose process was killed is taken
up by another process or by the next command. Processes end with their parent.
"""

import multiprocessing
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from rich.console import Console

from unshortcut.build.job import use_one_thread
from unshortcut.build.signals import StopSignal, stop_on_signals
from unshortcut.errors import InterruptedRunError, RunError, UnshortcutError
from unshortcut.processes import end_with_parent
from unshortcut.recipes.load import load_recipe
from unshortcut.reproduction.board import Board
from unshortcut.reproduction.claim import Claim
from unshortcut.reproduction.experiment import Experiment
from unshortcut.reproduction.plan import Plan
from unshortcut.reproduction.registered import SharedMeasures
from unshortcut.reproduction.request import ReproductionRequest
from unshortcut.reproduction.training_job import TrainingJob

_POLL_SECONDS = 1.0
_NICENESS = 19
_ONE_THREAD: Mapping[str, str] = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"
)


def train_side_by_side(plan: Plan, jobs: int) -> int:
    """Train and measure all that is missing; returns the number of trainings that were run.

    Ctrl-C and SIGTERM stop the trainings after their current step with their state saved.
    """
    missing = [training for training in plan.distinct if plan.stored(training) is None]
    if not missing:
        return 0
    unfinished = sum(not training.finished for training in missing)
    board = Board(plan)
    crew: dict[BaseProcess, Connection] = {}
    with stop_on_signals():
        try:
            for _ in range(min(jobs, len(missing))):
                process, connection = _start(plan)
                crew[process] = connection
            with board:
                _watch(crew, board)
        except StopSignal as stopped:
            _stop(crew)
            raise InterruptedRunError(
                "stopped; what is finished and the state of the current trainings are saved, and "
                "the same command continues",
                stopped.number,
            ) from None
        except UnshortcutError:  # of one process; the others save their state
            _stop(crew)
            raise
        finally:
            for process, connection in crew.items():
                process.kill()
                process.join()
                connection.close()
    if any(plan.stored(training) is None for training in missing):
        raise RunError(
            "a training process was killed, possibly for lack of memory; the same command continues"
        )
    return unfinished


def _start(plan: Plan) -> tuple[BaseProcess, Connection]:
    """Start a process that works on the plan; errors come through the connection."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(plan.claim, plan.request, plan.root, theirs))
    with _environment(_ONE_THREAD):  # libraries read it when the process loads them
        process.start()
    theirs.close()
    return process, ours


def _watch(crew: Mapping[BaseProcess, Connection], board: Board) -> None:
    """Show progress until all processes have ended; raise the first error of one of them."""
    while any(process.is_alive() for process in crew):
        board.update()
        for connection in crew.values():
            _raise_error(connection)
        time.sleep(_POLL_SECONDS)
    for connection in crew.values():
        _raise_error(connection)
    board.update()


def _raise_error(connection: Connection) -> None:
    try:
        if connection.poll():
            raise connection.recv()
    except (EOFError, OSError):
        return  # the process has ended without an error, or was killed


def _stop(crew: Mapping[BaseProcess, Connection]) -> None:
    """Let the processes save their state; another signal ends the wait."""
    for process in crew:
        process.terminate()
    for process in crew:
        process.join()


def _work(
    claim: Claim, request: ReproductionRequest, root: Path, errors: Connection
) -> None:  # pragma: no cover  # runs in another process
    """A process: trains and measures what no other process is working on, until all is done."""
    end_with_parent()
    if hasattr(os, "setsid"):
        os.setsid()  # Ctrl-C reaches the parent alone, which then stops its processes once
    _lower_priority()
    use_one_thread()
    try:
        plan = Plan(claim, request, root, Console(quiet=True))
        trainings = [_in_one_process(training) for training in plan.distinct]
        Experiment(trainings, SharedMeasures(plan), request.scale, plan.console).run()
    except InterruptedRunError:
        return  # the parent has sent the signal
    except UnshortcutError as error:
        errors.send(error)
    except Exception as error:
        errors.send(RunError(f"{type(error).__name__}: {error}"))


def _lower_priority() -> None:  # pragma: no cover  # changes this process for good
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    # Linux schedules sessions as groups, and the niceness of a process counts in its group only.
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(_NICENESS))


def _in_one_process(training: TrainingJob) -> TrainingJob:
    """The same training, to the same weights, with views and boxes computed by one process."""
    recipe, step = load_recipe(training.recipe, ["data.workers=0"]), training.proposals
    if step is not None:
        model = None if step.model is None else _in_one_process(step.model)
        step = replace(step, model=model, workers=1)
    return replace(training, recipe=recipe, proposals=step)


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
