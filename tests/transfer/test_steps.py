"""Trainings counted in steps, the last of which usually ends an epoch early."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from tests.transfer.made import QUICK, tiny_model
from unshortcut.data.loader import ViewLoader
from unshortcut.data.shapes import Shapes
from unshortcut.training.logs import read_log
from unshortcut.transfer import finetuning
from unshortcut.transfer.finetuning import finetune
from unshortcut.transfer.fitting import EPOCHS_OF_STEPS, epochs_of
from unshortcut.transfer.schedule import TransferSchedule
from unshortcut.transfer.validation import Validation

TRAIN = Shapes("train", size=24, count=64)
TESTS = {"test": Shapes("test", size=24, count=8)}
# 48 images remain for training, so that 5 steps end in the middle of an epoch of 6.
SETS = [*QUICK, "schedule={steps: 5}", "data.validation=0.25"]


class KilledError(Exception):
    """Stands for kill -9."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def run(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run") / "run"
    return finetune(model, TRAIN, "classify", out, tests=TESTS, sets=SETS).folder


@pytest.mark.parametrize(
    ("owner", "name"), [(Validation, "on_train_epoch_end"), (finetuning, "write_result")]
)
def test_a_run_killed_after_its_last_step_still_chooses_its_weights(
    owner: Any, name: str, run: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def again() -> object:
        return finetune(model, TRAIN, "classify", tmp_path / "r", tests=TESTS, sets=SETS)

    def kill(*_: object, **__: object) -> None:
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, kill)
        with pytest.raises(KilledError):
            again()
    again()
    for file in ("encoder.safetensors", "last.safetensors", "result.json"):
        assert (tmp_path / "r" / file).read_bytes() == (run / file).read_bytes()
    log = read_log(tmp_path / "r" / "log.jsonl")
    assert [entry["step"] for entry in log if "validation_top1" in entry] == [5]


def test_the_bar_is_full_after_the_last_step(model: Path, tmp_path: Path) -> None:
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=120)
    finetune(model, TRAIN, "classify", tmp_path / "r", tests=TESTS, sets=SETS, console=console)
    assert "100%" in shown.getvalue()


@pytest.mark.parametrize(
    ("steps", "images", "batch_size"), [(30, 44, 32), (1000, 44, 32), (24000, 16551, 16), (1, 9, 8)]
)
def test_steps_make_a_few_epochs_that_end_in_time(steps: int, images: int, batch_size: int) -> None:
    passes, epochs = epochs_of(TransferSchedule(steps=steps), images, batch_size)
    per_epoch = passes * images // batch_size
    assert epochs <= EPOCHS_OF_STEPS
    assert (epochs - 1) * per_epoch < steps <= epochs * per_epoch


def test_repeated_images_are_trained_on_in_different_views(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[ViewLoader] = []
    create = ViewLoader.__init__

    def noted(self: ViewLoader, *arguments: Any, **options: Any) -> None:
        create(self, *arguments, **options)
        made.append(self)

    monkeypatch.setattr(ViewLoader, "__init__", noted)
    monkeypatch.setattr("unshortcut.transfer.fitting.EPOCHS_OF_STEPS", 1)
    few = Shapes("train", size=24, count=16)
    sets = [*SETS, "data.validation=0"]
    finetune(model, few, "classify", tmp_path / "r", tests=TESTS, sets=sets)
    dataset = made[0].dataset
    assert len(dataset) == 3 * 16
    first, again = dataset[0, 5], dataset[0, 21]
    assert dataset.source.identity(21) == few.identity(5) and first.label == again.label
    assert not np.array_equal(first.views["image"], again.views["image"])
