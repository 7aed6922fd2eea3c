"""Shared by all benchmarks: alternating timing, printing figures, and storing them as JSON."""

import argparse
import json
import os
import platform
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Paired:
    """Seconds per round of our function and of a peer, timed alternately in the same process."""

    ours: Sequence[float]
    peer: Sequence[float]

    @property
    def ratio(self) -> float:
        """Median over rounds of the peer's time divided by ours; higher is better."""
        return median(peer / ours for ours, peer in zip(self.ours, self.peer, strict=True))


def alternate(
    ours: Callable[[int], object], peer: Callable[[int], object], items: int, rounds: int
) -> Paired:
    """Time two functions of an item's index, item by item; they take turns in going first.

    An additional first round is not timed; it compiles and fills caches.
    """
    times: dict[Callable[[int], object], list[float]] = {ours: [], peer: []}
    for number in range(rounds + 1):
        seconds = {ours: 0.0, peer: 0.0}
        for item in range(items):
            for function in (ours, peer) if (number + item) % 2 else (peer, ours):
                start = time.perf_counter()
                function(item)
                seconds[function] += time.perf_counter() - start
        if number > 0:
            for function, spent in seconds.items():
                times[function].append(spent)
    return Paired(times[ours], times[peer])


def json_target(module: str) -> Path | None:
    """Parse the command line and return FILE of `--json FILE`, if given."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{module}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    target: Path | None = parser.parse_args().json
    return target


def report(
    module: str, figures: Mapping[str, float], packages: Sequence[str], target: Path | None
) -> None:
    """Print one line per figure; if there is a target, also write figures and versions to it."""
    for name, value in figures.items():
        print(f"figure {name} {value:.4g}")
    if target is not None:
        result = {
            "command": f"python -m benchmarks.{module}",
            "figures": dict(figures),
            "cpu": _cpu(),
            "versions": {
                "python": platform.python_version(),
                **{package: metadata.version(package) for package in packages},
            },
            "commit": _commit(),
        }
        target.write_text(json.dumps(result, indent=2) + "\n")


def real_data(name: str) -> Path:
    """A file in the folder given by UNSHORTCUT_TEST_DATA; exits if it does not exist."""
    folder = Path(os.environ.get("UNSHORTCUT_TEST_DATA", ROOT.parent / "shared" / "data"))
    path = folder / name
    if not path.exists():
        sys.exit(f"{name} is not in the folder given by UNSHORTCUT_TEST_DATA")
    return path


def read_photos() -> list[bytes]:
    """The photographs of the test data as JPEG files."""
    with tarfile.open(real_data("photos.tar")) as archive:
        files = [archive.extractfile(member) for member in archive if member.isfile()]
        return [file.read() for file in files if file is not None]


def _cpu() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _commit() -> str | None:
    """The commit, marked if files have changed since; None outside a git repository."""
    try:
        answer = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return answer.stdout.strip()
