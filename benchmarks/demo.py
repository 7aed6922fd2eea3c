"""How long a newcomer waits: for the demo, for its first picture, and for compilation.

    python -m benchmarks.demo [--json FILE]

runs `unshortcut demo` in a new process whose caches are empty, also those of Numba, and measures
from outside when the first picture is there and when the demo ends; then what the first use of a
view, a filter and the drawing costs in new processes, with an empty cache of Numba and with a full
one. About six minutes on two cores.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.common import json_target, report

PICTURE = "cheater.png"
POLL_SECONDS = 0.1
_IMAGE = "import numpy as np; image = np.full((64, 64, 3), 90, np.uint8)"
FIRST_USES = {
    "drawing": (
        "from unshortcut.data.shapes import Shapes",
        "Shapes('train').image(0)",
    ),
    "view": (
        f"{_IMAGE}; from unshortcut.recipes.load import load_recipe; "
        "from unshortcut.data.source import ArrayImage; "
        "plan = load_recipe('moco-v2-patch-shapes').view_plan()",
        "plan(ArrayImage(image), 0, 0, 0)",
    ),
    "filter": (
        f"{_IMAGE}; from unshortcut.imaging import anisotropic_diffusion",
        "anisotropic_diffusion(image)",
    ),
    "texture": (
        f"{_IMAGE}; from unshortcut.imaging import synthesize_texture",
        "synthesize_texture([image])",
    ),
}
"""By name: what is imported first, and the first use."""


def main() -> None:
    target = json_target("demo")
    with tempfile.TemporaryDirectory() as folder:
        figures = {**demo(Path(folder)), **first_uses(Path(folder))}
    report("demo", figures, ["torch", "timm", "numba"], target)


def demo(folder: Path) -> dict[str, float]:
    """Seconds of the demo, and until its first picture."""
    out, started = folder / "demo", time.monotonic()
    first = None
    command = [sys.executable, "-m", "unshortcut.cli.main", "demo", "--out", str(out)]
    process = subprocess.Popen(command, env=_empty_caches(folder))
    while process.poll() is None:
        time.sleep(POLL_SECONDS)
        if first is None and (out / PICTURE).exists():
            first = time.monotonic() - started
    seconds = time.monotonic() - started
    assert process.returncode == 0 and first is not None, "the demo failed"
    return {"demo_seconds": seconds, "demo_first_picture_seconds": first}


def first_uses(folder: Path) -> dict[str, float]:
    """Seconds of the first use of each, cold and with what was compiled before."""
    environment = _empty_caches(folder / "first")
    return {
        f"{temperature}_{name}_seconds": _first_use(*code, environment)
        for name, code in FIRST_USES.items()
        for temperature in ("cold", "warm")
    }


def _first_use(imports: str, use: str, environment: dict[str, str]) -> float:
    code = f"{imports}; import time; t = time.perf_counter(); {use}; print(time.perf_counter() - t)"
    answer = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return float(answer.stdout.split()[-1])


def _empty_caches(folder: Path) -> dict[str, str]:
    caches = {"NUMBA_CACHE_DIR": folder / "numba", "UNSHORTCUT_CACHE": folder / "cache"}
    return {**os.environ, **{name: str(path) for name, path in caches.items()}}


if __name__ == "__main__":
    main()
