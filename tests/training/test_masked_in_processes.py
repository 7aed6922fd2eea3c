"""Masked methods on two devices, with Lightning's own distribution of gradients."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.methods.small_runs import SMALL as QUICK
from tests.methods.small_runs import assert_close_vits
from tests.methods.test_mae import SMALL
from unshortcut.models.card import read_weights
from unshortcut.recipes.load import load_recipe
from unshortcut.training.folder import RunFolder
from unshortcut.training.pretraining import build_method, pretrain

# Two halves of a batch equal the whole only without batch norm.
PLAIN = "method.head_batch_norm=false"


@pytest.mark.slow
@pytest.mark.parametrize(("recipe", "own"), [("mae-shapes", ()), ("can-patch-shapes", (PLAIN,))])
def test_two_processes_train_the_weights_of_one(
    recipe: str, own: tuple[str, ...], tmp_path: Path
) -> None:
    sets = [*QUICK, *SMALL, *own, "schedule.epochs=1", "data.batch_size=1000"]
    alone = pretrain(recipe, "shapes", tmp_path / "one", sets=sets)
    words = [word for change in sets for word in ("--set", change)]
    done = subprocess.run(
        [sys.executable, "-m", "unshortcut.cli.main", "pretrain", recipe, "--data", "shapes",
         "--out", str(tmp_path / "two"), "--devices", "2", *words],
        capture_output=True, text=True, timeout=240, check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    one = read_weights(RunFolder(alone.folder).weights)
    two = read_weights(RunFolder(tmp_path / "two").weights)
    start = build_method(load_recipe(recipe, sets)).encoder.model.state_dict()
    assert_close_vits(one, two, atol=1e-4)
    assert any((value - start[name]).abs().max() > 1e-2 for name, value in one.items())
