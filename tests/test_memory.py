"""Freed memory is kept where glibc can, counted in page faults, unless the user says otherwise."""

import os
import platform
import subprocess
import sys

import pytest

SCRIPT = """
import resource, sys
import numpy as np
from unshortcut.memory import keep_freed_memory
kept = keep_freed_memory() if sys.argv[1] == "keep" else None
np.ones(2**21)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    np.ones(2**21)  # 16 MiB
print(kept, resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="for glibc's allocator")


def run(mode: str, **environment: str) -> tuple[str, int]:
    variables = {k: v for k, v in os.environ.items() if not k.startswith(("MALLOC_", "GLIBC_"))}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, mode],
        env={**variables, "NUMPY_MADVISE_HUGEPAGE": "0", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    kept, faults = done.stdout.split()
    return kept, int(faults)


@glibc
def test_blocks_that_are_freed_are_not_cleared_anew() -> None:
    (_, plain), (kept, few) = run("plain"), run("keep")
    assert kept == "True"
    assert few < plain / 5


@glibc
def test_settings_of_the_user_s_own_are_left_alone() -> None:
    kept, _ = run("keep", MALLOC_TRIM_THRESHOLD_="131072")
    assert kept == "False"
