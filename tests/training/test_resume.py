"""Exact resume: a run killed at any step and resumed has the weights of one that was not."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
import yaml

from tests.small import TINY_RECIPE
from unshortcut.errors import UsageError
from unshortcut.recipes.load import load_recipe
from unshortcut.training.checkpoint import load_checkpoint
from unshortcut.training.folder import RunFolder
from unshortcut.training.logs import read_log
from unshortcut.training.pretraining import pretrain
from unshortcut.training.resume import differences

SETS = ["schedule.epochs=3", "training.accumulate=2"]
COUNT = 160  # 5 batches of 32 an epoch


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.yaml"
    path.write_text(yaml.safe_dump(TINY_RECIPE))
    return path


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """A folder of `COUNT` rendered images."""
    from PIL import Image

    from unshortcut.data.shapes import Shapes

    folder = tmp_path / "images"
    folder.mkdir()
    source = Shapes("train", size=32, count=COUNT)
    for index in range(COUNT):
        Image.fromarray(source.image(index).pixels()).save(folder / f"{index:04d}.png")
    return folder


def start(recipe: Path, images: Path, out: Path, *more: str) -> subprocess.Popen[str]:
    words = ["pretrain", str(recipe), "--data", str(images), "--out", str(out), *more]
    words += [word for change in SETS for word in ("--set", change)]
    return subprocess.Popen(
        [sys.executable, "-m", "unshortcut.cli.main", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def wait_for_step(process: subprocess.Popen[str], out: Path, step: int) -> None:
    """Until the run has made a checkpoint at or after a step, or has ended."""
    path = RunFolder(out).checkpoint
    while process.poll() is None:
        if path.exists() and load_checkpoint(path)["global_step"] >= step:
            return
        time.sleep(0.01)


def weights(out: Path) -> dict[str, torch.Tensor]:
    state: dict[str, torch.Tensor] = load_checkpoint(RunFolder(out).checkpoint)["state_dict"]
    return state


def assert_equal_to_the_bit(first: Path, second: Path) -> None:
    one, other = weights(first), weights(second)
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert torch.equal(value, other[name]), name
    assert RunFolder(first).weights.read_bytes() == RunFolder(second).weights.read_bytes()


def test_killed_at_random_steps_and_resumed_equals_uninterrupted(
    recipe: Path, images: Path, tmp_path: Path
) -> None:
    whole = start(recipe, images, tmp_path / "whole")
    assert whole.wait(240) == 0, whole.stderr.read()  # type: ignore[union-attr]

    out = tmp_path / "killed"
    rng = random.Random(0)
    steps = sorted(rng.sample(range(1, 14), 3))
    resume: list[str] = []
    for step in steps:
        process = start(recipe, images, out, *resume)
        wait_for_step(process, out, step)
        time.sleep(rng.random() * 0.05)
        process.kill()
        process.wait()
        resume = ["--resume"]
    last = start(recipe, images, out, "--resume")
    assert last.wait(240) == 0, last.stderr.read()  # type: ignore[union-attr]

    assert_equal_to_the_bit(tmp_path / "whole", out)
    logged = [entry["step"] for entry in read_log(RunFolder(out).log)]
    assert logged == sorted(set(logged))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_writes_a_checkpoint_and_says_how_to_go_on(
    number: signal.Signals, recipe: Path, images: Path, tmp_path: Path
) -> None:
    out = tmp_path / "stopped"
    process = start(recipe, images, out, "--set", "training.checkpoint_steps=3")
    wait_for_step(process, out, 3)
    process.send_signal(number)
    _, output = process.communicate(timeout=120)
    assert process.returncode == 128 + number
    assert "Traceback" not in output
    assert "To continue: unshortcut pretrain" in output and "--resume" in output
    assert load_checkpoint(RunFolder(out).checkpoint)["global_step"] >= 3


def test_a_changed_recipe_is_refused_with_the_difference_and_a_harmless_change_is_not(
    images: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    pretrain(TINY_RECIPE, images, out, sets=["schedule.epochs=1"])
    with pytest.raises(UsageError, match=r"method.loss.temperature: 0.2 -> 0.1"):
        pretrain(
            TINY_RECIPE,
            images,
            out,
            sets=["schedule.epochs=1", "method.loss.temperature=0.1"],
            resume=True,
        )
    harmless = ["schedule.epochs=1", "data.workers=1", "training.log_steps=3"]
    run = pretrain(TINY_RECIPE, images, out, sets=harmless, resume=True)
    assert run.metrics["loss"] > 0


def test_changed_data_are_refused(images: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    pretrain(TINY_RECIPE, images, out, sets=["schedule.epochs=1"])
    (images / "0000.png").unlink()
    with pytest.raises(UsageError, match="data differ from those of the run"):
        pretrain(TINY_RECIPE, images, out, sets=["schedule.epochs=1"], resume=True)


def test_differences_name_the_keys_and_leave_out_what_is_harmless() -> None:
    old = load_recipe(TINY_RECIPE).model_dump(mode="json")
    new = load_recipe(
        TINY_RECIPE, ["views.augmentations.color_jitter.hue=0.3", "data.workers=4", "seed=5"]
    ).model_dump(mode="json")
    assert differences(old, new) == {
        "views.augmentations.1.hue": (0.5, 0.3),
        "seed": (0, 5),
    }


def test_resuming_other_files_and_starting_where_a_run_is_are_refused(
    images: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="holds no run to resume, but other files"):
        pretrain(TINY_RECIPE, images, tmp_path / "other", resume=True)
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["notes.txt"]
    pretrain(TINY_RECIPE, images, tmp_path / "run", sets=["schedule.epochs=1"])
    with pytest.raises(UsageError, match="already holds a run; continue it with --resume"):
        pretrain(TINY_RECIPE, images, tmp_path / "run", sets=["schedule.epochs=1"])


@pytest.mark.parametrize(
    "left",
    [None, (), ("README.txt", "run.json"), (".README.txt.partial",), (".recipe.yaml.partial",)],
)
def test_resuming_where_nothing_was_written_yet_starts_the_run(
    images: Path, tmp_path: Path, left: tuple[str, ...] | None
) -> None:
    """No folder, an empty one, or what a run leaves that was killed in its first moments."""
    out = tmp_path / "run"
    if left is not None:
        out.mkdir()
        for name in left:
            (out / name).write_text("cut off")
    assert RunFolder(out).check(resume=True) is False
    if left in (None, ("README.txt", "run.json")):
        run = pretrain(TINY_RECIPE, images, out, sets=["schedule.epochs=1"], resume=True)
        assert run.metrics["loss"] > 0 and RunFolder(out).check(resume=True) is True


def test_init_is_not_forgotten_by_a_run_that_has_no_checkpoint_yet(
    images: Path, tmp_path: Path
) -> None:
    first = pretrain(TINY_RECIPE, images, tmp_path / "first", sets=["schedule.epochs=1"])
    out = tmp_path / "second"
    sets = ["schedule.epochs=1"]
    pretrain(TINY_RECIPE, images, out, sets=sets, init=first.folder)
    RunFolder(out).checkpoint.unlink()
    with pytest.raises(UsageError, match="started with --init first; give it again"):
        pretrain(TINY_RECIPE, images, out, sets=sets, resume=True)
    pretrain(TINY_RECIPE, images, out, sets=sets, resume=True, init=first.folder)


def test_a_finished_run_that_is_resumed_stays_as_it_is(images: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    pretrain(TINY_RECIPE, images, out, sets=["schedule.epochs=1"])
    before = RunFolder(out).weights.read_bytes()
    pretrain(TINY_RECIPE, images, out, sets=["schedule.epochs=1"], resume=True)
    assert RunFolder(out).weights.read_bytes() == before
