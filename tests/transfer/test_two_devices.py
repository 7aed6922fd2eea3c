"""Two processes fine-tune as one does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from PIL import Image
from safetensors.torch import load_file
from torch import Tensor

from tests.transfer.made import tiny_model
from unshortcut.data.shapes import Shapes

pytestmark = pytest.mark.slow


@pytest.fixture
def drawings(tmp_path: Path) -> Path:
    """Class folders with 64 drawings."""
    drawn = Shapes("train", size=24, count=64)
    for index in range(len(drawn)):
        path = tmp_path / "drawings" / f"{drawn.identity(index)}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(drawn.image(index).pixels()).save(path)
    return tmp_path / "drawings" / "train"


def finetuned(model: Path, data: Path, out: Path, devices: int) -> dict[str, Tensor]:
    """The last weights of a run of the command with a number of processes."""
    words = ["finetune", str(model), "--data", str(data), "--out", str(out)]
    changes = [
        *("data.workers=0", "data.batch_size=16", "data.validation=0.25", "views.size=24"),
        *("schedule={steps: 6, head_first: 0.34}", "train.batch_norm=frozen"),
    ]
    words += [word for change in changes for word in ("--set", change)]
    done = subprocess.run(
        [sys.executable, "-m", "unshortcut.cli.main", *words, "--devices", str(devices)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    return load_file(out / "last.safetensors")


def test_two_processes_fine_tune_as_one_does(tmp_path: Path, drawings: Path) -> None:
    """With batch norms that keep their statistics, devices differ in rounding only."""
    model = tiny_model(tmp_path)
    one, two = (finetuned(model, drawings, tmp_path / str(devices), devices) for devices in (1, 2))
    for name, value in one.items():
        torch.testing.assert_close(two[name], value, rtol=0, atol=1e-5)
    start = load_file(model)
    assert any((one[name] - start[name]).abs().max() > 1e-5 for name in start)
