"""Processes that copy data sets, to be killed while they run."""

import multiprocessing
import os
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from unshortcut.data.copies import MANIFEST

PATIENCE = 240.0
"""Seconds; a busy machine may take long to start a program."""


def start(make: Callable[..., Any], *arguments: Any, **settings: Any) -> BaseProcess:
    """Call a function in a process of its own, which may have children."""
    process = multiprocessing.get_context("fork").Process(
        target=make, args=arguments, kwargs=settings
    )
    process.start()
    return process


def results(folder: Path) -> int:
    """How many files have appeared in a folder besides its manifest, while others write to it."""
    walk = os.walk(folder)  # which, unlike pathlib's, passes over folders that vanish
    return sum(len(files) for folder, _, files in walk if ".partial" not in folder) - 1


def wait_for(folder: Path, count: int, alive: Callable[[], bool]) -> None:
    """Wait until `count` results are there, or the process has ended."""
    deadline = time.monotonic() + PATIENCE
    while alive() and not ((folder / MANIFEST).exists() and results(folder) >= count):
        assert time.monotonic() < deadline, "nothing appears"
        time.sleep(0.001)
