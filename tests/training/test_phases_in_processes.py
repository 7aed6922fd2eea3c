"""Phases in processes of their own: killed and resumed, and two at a time."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from tests.methods.small_runs import assert_close_vits
from tests.training.phased import Place
from unshortcut.models.card import read_weights
from unshortcut.training.folder import RunFolder


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("phases"))


def start(place: Place, folder: Path, out: str, *words: str) -> subprocess.Popen[str]:
    recipe = folder / "phases.yaml"
    recipe.write_text(yaml.safe_dump(place.recipe))
    command = ["pretrain", str(recipe), "--data", str(place.photos), "--out", str(folder / out)]
    return subprocess.Popen(
        [sys.executable, "-m", "unshortcut.cli.main", *command, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


@pytest.mark.slow
def test_kill_9_in_each_phase_and_resume_give_the_weights_of_a_whole_run(
    place: Place, tmp_path: Path
) -> None:
    uninterrupted = start(place, tmp_path, "uninterrupted")
    assert uninterrupted.wait(240) == 0, uninterrupted.stderr.read()  # type: ignore[union-attr]
    for phase in ("1-doubled", "2-originals"):
        process = start(place, tmp_path, "killed", "--resume")
        while process.poll() is None:
            if RunFolder(tmp_path / "killed" / phase).checkpoint.exists():
                process.kill()
            time.sleep(0.01)
        assert process.returncode == -signal.SIGKILL
    last = start(place, tmp_path, "killed", "--resume")
    assert last.wait(240) == 0, last.stderr.read()  # type: ignore[union-attr]
    one, other = (RunFolder(tmp_path / name) for name in ("uninterrupted", "killed"))
    assert one.weights.read_bytes() == other.weights.read_bytes()


@pytest.mark.slow
def test_two_processes_go_through_the_phases_together(place: Place, tmp_path: Path) -> None:
    """A ViT has no batch norm, so two processes differ from one in rounding only."""
    options = "{img_size: 24, patch_size: 8, embed_dim: 24, depth: 1, num_heads: 2}"
    sets = [
        f"encoder={{name: vit_tiny_patch16_224, options: {options}}}", "views.size=24",
        "phases.originals.views.size=24", "method.mixup=0.3",
    ]  # fmt: skip
    words = [word for change in sets for word in ("--set", change)]
    two = start(place, tmp_path, "two", "--devices", "2", *words)
    assert two.wait(240) == 0, two.stderr.read()  # type: ignore[union-attr]
    alone = place.run(tmp_path / "one", *sets)
    for phase in ("1-doubled", "2-originals"):
        one, other = (
            read_weights(RunFolder(folder / phase).weights)
            for folder in (alone.path, tmp_path / "two")
        )
        assert_close_vits(one, other, atol=1e-4)
    last = tmp_path / "two" / "2-originals"
    before = RunFolder(last).weights.read_bytes()
    shutil.rmtree(last)
    again = start(place, tmp_path, "two", "--devices", "2", "--resume", *words)
    assert again.wait(240) == 0, again.stderr.read()  # type: ignore[union-attr]
    assert RunFolder(last).weights.read_bytes() == before
