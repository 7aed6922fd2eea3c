"""Trainings side by side: each is run once, survives a kill, and ends with its parent."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.reproduction.counting import MEASURED, CountingClaim
from tests.reproduction.small import RECIPE, all_tests, images
from unshortcut.errors import RunError
from unshortcut.reproduction import Reproduction, reproduce
from unshortcut.reproduction.board import seconds_left
from unshortcut.reproduction.training_job import TrainingJob

PATIENCE = 300.0
LONG = """
import sys
from pathlib import Path
from tests.reproduction.test_side_by_side import run
from unshortcut.errors import InterruptedRunError
if __name__ == "__main__":
    try:
        run(Path(sys.argv[1]), jobs=2, sets=["schedule.epochs=5000"])
    except InterruptedRunError as stopped:
        sys.exit(stopped.exit_status)
"""


def run(folder: Path, **changed: Any) -> Reproduction:
    settings: dict[str, Any] = {"recipe": RECIPE, "seeds": 1, "tests": all_tests(), **changed}
    out, cache = folder / "out", folder / "trainings"
    return reproduce(CountingClaim(), images(), out=out, cache=cache, **settings)


def wait_for(condition: Callable[[], Any]) -> Any:
    """The first true value of a condition; fails if there is none for a long time."""
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError("waited too long")


def children_of(process: int) -> list[int]:
    return [
        int(one) for one in Path(f"/proc/{process}/task/{process}/children").read_text().split()
    ]


def is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def started(folder: Path) -> list[Path]:
    return list((folder / "trainings").glob("*/run/checkpoint.ckpt"))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_killed_process_is_replaced_by_the_others_and_nothing_is_measured_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sets = ["schedule.epochs=12"]
    whole = run(tmp_path / "whole", sets=sets)
    found: list[Reproduction] = []
    thread = threading.Thread(target=lambda: found.append(run(tmp_path, jobs=2, sets=sets)))
    thread.start()
    wait_for(lambda: len(started(tmp_path)) == 2)  # each process is training
    first = multiprocessing.active_children()[0]
    assert first.pid is not None
    assert os.getpriority(os.PRIO_PROCESS, first.pid) == 19
    group = Path(f"/proc/{first.pid}/autogroup")
    assert not group.exists() or group.read_text().split()[-1] == "19"
    first.kill()
    thread.join(PATIENCE)
    (outcome,) = found
    assert outcome.trained == 2 and outcome.metrics == whole.metrics
    for one, other in zip(whole.trainings, outcome.trainings, strict=True):
        assert one.run.weights.read_bytes() == other.run.weights.read_bytes()
        assert len((other.run.path / MEASURED).read_text().split()) == 1
    said = capsys.readouterr().err
    assert "2 of 2 trainings done" in said and "alpha=2 seed=0" in said


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_processes_end_with_their_parent_and_leave_a_state_to_resume_from(
    number: signal.Signals, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", LONG, str(tmp_path)]
    parent = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        wait_for(lambda: len(started(tmp_path)) == 2)
        running = [one for one in children_of(parent.pid) if is_running(one)]
        assert len(running) >= 2
        parent.send_signal(number)
        assert parent.wait(PATIENCE) == (-9 if number == signal.SIGKILL else 128 + number)
        wait_for(lambda: not any(map(is_running, running)))
    finally:
        parent.kill()
    if number == signal.SIGTERM:  # both were stopped after a step with their state and time saved
        assert len(list((tmp_path / "trainings").glob("*/seconds.json"))) == 2


def test_an_error_in_a_process_is_that_of_the_command(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="the loss is"):
        run(tmp_path, jobs=2, sets=["optimizer.lr=1e30"])


def test_the_time_left_is_that_of_the_remaining_epochs_at_the_pace_so_far() -> None:
    assert seconds_left(before=10, now=20, total=60, elapsed=100) == 400
    assert seconds_left(before=10, now=10, total=60, elapsed=100) is None


def test_progress_is_read_from_the_log(tmp_path: Path) -> None:
    from unshortcut.recipes.load import load_recipe

    training = TrainingJob("a", load_recipe(RECIPE), "shapes", tmp_path)
    assert training.epochs_done == 0
    training.run.path.mkdir()
    lines = [{"step": 1, "epoch": 0.5}, {"step": 3, "epoch": 1.5}, {"step": 3, "knn": 9.0}]
    training.run.log.write_text("".join(json.dumps(one) + "\n" for one in lines) + '{"step": 5, "e')
    assert training.epochs_done == 1.5
