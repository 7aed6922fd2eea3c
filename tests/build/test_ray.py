"""The engine for clusters, on a Ray of this machine with two workers: the same files, whoever dies.

One cluster serves all tests of this file. Runs that are to be killed are programs of their own.
"""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.build.killing import wait_for
from tests.build.sets import digests, plain_tree, write_shards
from unshortcut.build.api import filter_data, texturize
from unshortcut.errors import UsageError

ray = pytest.importorskip("ray", reason="unshortcut[cluster] is not installed")

pytestmark = pytest.mark.timeout(900)

# Seconds of work, so that there is time to be killed in even where the test is not let run.
FILTER = {"iterations": 400}
TEXTURIZE = {"size": 160}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sources, and what the local engine makes of them, before any cluster is there."""
    root = tmp_path_factory.mktemp("whole")
    plain_tree(root / "tree", 48, 160, 200)
    (root / "tree/train/c0/bad.jpg").write_bytes(b"bad")
    shards = write_shards(root / "shards", 12, 4)
    filter_data(root / "tree", root / "filter-tree", **FILTER, workers=2)
    filter_data(shards, root / "filter-shards", **FILTER, workers=2)
    texturize(root / "tree", root / "texturize-tree", **TEXTURIZE, workers=2)
    texturize(shards, root / "texturize-shards", **TEXTURIZE, workers=2)
    return root


@pytest.fixture(scope="module")
def address(whole: Path) -> Iterator[str]:
    """The address of a cluster with two workers."""
    try:
        ray.init(
            address="local", num_cpus=2, include_dashboard=False, logging_level=logging.ERROR,
            log_to_driver=False, object_store_memory=10**8,
        )  # fmt: skip
    except (RuntimeError, OSError, ValueError) as error:
        pytest.skip(f"Ray cannot start on this machine: {error}")
    yield ray.get_runtime_context().gcs_address
    ray.shutdown()


def shards_of(root: Path) -> str:
    return f"{root}/shards/s-{{00..11}}.tar"


def test_it_gives_the_files_of_the_local_engine(
    address: str, whole: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    made = filter_data(whole / "tree", tmp_path / "tree", **FILTER, engine="ray")
    assert (made.made, made.kept) == (48, 0)
    assert [failure.identity for failure in made.failures] == ["train/c0/bad.jpg"]
    filter_data(shards_of(whole), tmp_path / "shards", **FILTER, engine="ray", workers=1)
    assert digests(tmp_path / "tree") == digests(whole / "filter-tree")
    assert digests(tmp_path / "shards") == digests(whole / "filter-shards")
    assert ray.is_initialized(), "a cluster that was there must stay"
    output = capfd.readouterr()
    assert output.out == "" and "Traceback" not in output.err


@pytest.mark.parametrize("kind", ["tree", "shards"])
def test_a_killed_worker_is_replaced(address: str, whole: Path, tmp_path: Path, kind: str) -> None:
    out = tmp_path / "out"
    killed: list[int] = []

    def kill_one() -> None:
        wait_for(out, 3, lambda: not finished.is_set())
        while not killed and not finished.is_set():
            # Between two tasks a worker calls itself idle.
            for pid in ray_workers():
                if "MapBatches" in command_line(pid) and not killed:
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)
            time.sleep(0.002)

    finished = threading.Event()
    killer = threading.Thread(target=kill_one)
    killer.start()
    source = whole / "tree" if kind == "tree" else shards_of(whole)
    made = texturize(source, out, **TEXTURIZE, engine="ray")
    finished.set()
    killer.join()
    assert killed and made.made == 48
    assert digests(out) == digests(whole / f"texturize-{kind}")


def test_killed_runs_of_both_commands_go_on(address: str, whole: Path, tmp_path: Path) -> None:
    makers: dict[str, tuple[list[str], Callable[..., Any], dict[str, Any], str]] = {
        "filter": (["--set", "iterations=400"], filter_data, FILTER, str(whole / "tree")),
        "texturize": (["--size", "160"], texturize, TEXTURIZE, shards_of(whole)),
    }
    runs = {}
    for command, (words, _, _, source) in makers.items():
        words = [command, source, str(tmp_path / command), *words]
        words += ["--engine", "ray", "--address", address, "--workers", "1"]
        runs[command] = subprocess.Popen(
            [sys.executable, "-m", "unshortcut.cli.main", *words], stderr=subprocess.PIPE, text=True
        )
    killers = [
        threading.Thread(target=kill_early, args=(run, tmp_path / command))
        for command, run in runs.items()
    ]
    for killer in killers:
        killer.start()
    for run in runs.values():
        _, output = run.communicate()
        assert run.returncode == -signal.SIGKILL, output
    for command, (_, make, settings, source) in makers.items():
        made = make(source, tmp_path / command, **settings, engine="ray")
        assert made.kept > 0 and made.made + made.kept == 48
        kind = "tree" if command == "filter" else "shards"
        assert digests(tmp_path / command) == digests(whole / f"{command}-{kind}")
    # Workers of the killed runs may have lived on for a moment; they can leave nothing.
    time.sleep(0.5)
    assert not list(tmp_path.glob("*/.*"))


def test_without_ray_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = plain_tree(tmp_path / "in", 1)
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setitem(sys.modules, "ray.data", None)
    with pytest.raises(UsageError, match=r"pip install 'unshortcut\[cluster\]'"):
        filter_data(source, tmp_path / "out", "gaussian", engine="ray")
    assert not (tmp_path / "out").exists()


def kill_early(run: subprocess.Popen[str], folder: Path) -> None:
    """Kill a run when its first results are there."""
    wait_for(folder, 2, lambda: run.poll() is None)
    run.kill()


def ray_workers() -> list[int]:
    """The worker processes of the cluster that this process has started."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
    ours = {pid for pid, parent in parents.items() if parent == os.getpid()}
    return [pid for pid, parent in parents.items() if parent in ours]


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""
