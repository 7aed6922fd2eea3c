"""A run killed at any time can be continued, with the result of an uninterrupted run."""

import os
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.build.killing import PATIENCE, results, start, wait_for
from tests.build.sets import digests, plain_tree, write_shards
from unshortcut.build.api import filter_data, texturize
from unshortcut.build.signals import stop_on_signals
from unshortcut.errors import InterruptedRunError, RunError

pytestmark = pytest.mark.timeout(900)

# Seconds of work, so that there is time to be killed in even where the test is not let run.
MAKERS: dict[str, Callable[..., Any]] = {
    "filter": partial(filter_data, method="anisotropic", iterations=3000, workers=2),
    "texturize": partial(texturize, size=96, workers=2),
}


def children(process: int) -> list[int]:
    """The processes that a process has started."""
    return [int(n) for n in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def is_gone(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.parametrize("kind", ["tree", "shards"])
@pytest.mark.parametrize("command", MAKERS)
def test_a_killed_run_goes_on_to_the_same_files(command: str, kind: str, tmp_path: Path) -> None:
    make = MAKERS[command]
    source: Path | str
    if kind == "tree":
        source, total = plain_tree(tmp_path / "in", 48), 48
    else:
        source, total = write_shards(tmp_path / "in", 12, 4), 12
    make(source, tmp_path / "whole")
    rng = np.random.default_rng(0)
    kills, seen = 0, 0
    for goal in (0, 1, *np.sort(rng.integers(2, total // 2, 3)).tolist()):
        process = start(make, source, tmp_path / "killed")
        wait_for(tmp_path / "killed", goal, process.is_alive)
        time.sleep(rng.uniform(0, 0.02))
        process.kill()
        process.join()
        kills += process.exitcode == -signal.SIGKILL
        assert results(tmp_path / "killed") >= seen, "what was made is lost"
        seen = results(tmp_path / "killed")
    assert kills >= 3 and seen > 0, "it was too fast to be killed"
    made = make(source, tmp_path / "killed")
    assert made.made + made.kept == 48
    assert digests(tmp_path / "killed") == digests(tmp_path / "whole")


def test_workers_end_with_a_killed_run(tmp_path: Path) -> None:
    source = plain_tree(tmp_path / "in", 48)
    process = start(MAKERS["filter"], source, tmp_path / "out")
    wait_for(tmp_path / "out", 2, process.is_alive)
    workers = children(process.pid or 0)
    assert len(workers) == 2
    process.kill()
    process.join()
    deadline = time.monotonic() + PATIENCE
    while not all(is_gone(worker) for worker in workers):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_killed_worker_is_reported(tmp_path: Path) -> None:
    source = plain_tree(tmp_path / "in", 48)
    message = tmp_path / "told"

    def make() -> None:
        try:
            MAKERS["filter"](source, tmp_path / "out")
        except RunError as error:
            message.write_text(str(error))

    process = start(make)
    wait_for(tmp_path / "out", 2, process.is_alive)
    os.kill(children(process.pid or 0)[0], signal.SIGKILL)
    process.join()
    assert "a worker was killed" in message.read_text()
    assert "of 48 images are done; run the same command again to continue" in message.read_text()
    MAKERS["filter"](source, tmp_path / "out")
    MAKERS["filter"](source, tmp_path / "whole")
    assert digests(tmp_path / "out") == digests(tmp_path / "whole")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_promptly_and_says_how_to_continue(
    number: signal.Signals, tmp_path: Path
) -> None:
    source = plain_tree(tmp_path / "in", 48)
    message = tmp_path / "told"

    def make() -> None:
        try:
            MAKERS["filter"](source, tmp_path / "out")
        except InterruptedRunError as error:
            message.write_text(f"{error.exit_status} {error}")

    process = start(make)
    wait_for(tmp_path / "out", 2, process.is_alive)
    sent = time.monotonic()
    os.kill(process.pid or 0, number)
    process.join()
    assert time.monotonic() - sent < 30
    assert message.read_text().startswith(f"{128 + number} stopped: ")
    assert "run the same command again to continue" in message.read_text()
    assert not list((tmp_path / "out").glob(".*"))
    MAKERS["filter"](source, tmp_path / "out")
    MAKERS["filter"](source, tmp_path / "whole")
    assert digests(tmp_path / "out") == digests(tmp_path / "whole")


def test_handlers_are_put_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with stop_on_signals():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before
