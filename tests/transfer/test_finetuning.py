"""A run of fine-tuning: exact resume, best and last weights, and its use by other commands."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import timm
import torch
from lightning.pytorch import Callback, Trainer
from rich.console import Console
from safetensors.torch import load_file

import unshortcut
from tests.small import TINY
from tests.transfer.made import QUICK, tiny_model
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.models.load import load_model
from unshortcut.training.logs import read_log
from unshortcut.transfer.finetuning import finetune

TRAIN = Shapes("train", size=24, count=64)
TESTS = {"test": Shapes("test", size=24, count=40)}
QUIET = Console(quiet=True)
SETS = [*QUICK, "schedule={epochs: 2, head_first: 0.25}", "data.validation=0.25"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def run(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run") / "run"
    return finetune(model, TRAIN, "classify", out, tests=TESTS, sets=SETS).folder


class Cut(Callback):
    """Ends a training without a word, as a kill does, after a number of steps."""

    steps = 0

    def on_train_batch_end(self, trainer: Trainer, *_: Any) -> None:
        if trainer.global_step == self.steps:
            raise KilledError


class KilledError(Exception):
    """Stands for kill -9."""


@pytest.mark.parametrize("killed_at", [1, 3, 6, 8])
def test_a_killed_run_repeated_ends_with_the_same_weights(
    killed_at: int,
    run: Path,
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def again() -> dict[str, float]:
        return finetune(model, TRAIN, "classify", tmp_path / "r", tests=TESTS, sets=SETS).metrics

    with monkeypatch.context() as patch:
        patch.setattr(Cut, "steps", killed_at)
        patch.setattr("unshortcut.training.trainer.StepExchange", lambda *_: Cut())
        with pytest.raises(KilledError):
            again()
    metrics = again()
    for name in ("encoder.safetensors", "last.safetensors"):
        assert (tmp_path / "r" / name).read_bytes() == (run / name).read_bytes()
    assert metrics == json.loads((run / "result.json").read_text())["metrics"]
    assert again() == metrics, "a finished run is not trained again"


def test_the_best_weights_are_those_of_the_highest_validation_accuracy(run: Path) -> None:
    log = read_log(run / "log.jsonl")
    values = [entry["validation_top1"] for entry in log if "validation_top1" in entry]
    metrics = json.loads((run / "result.json").read_text())["metrics"]
    assert len(values) == 2
    assert metrics["validation top1"] == max(values)
    if values[1] >= values[0]:
        assert metrics["test top1"] == metrics["test top1 (last)"]


def test_timm_gives_the_test_accuracy_that_the_run_reports(run: Path) -> None:
    options = {key: tuple(value) for key, value in TINY.options.items()}
    network = timm.create_model("resnet18", num_classes=8, **options).eval()
    network.load_state_dict(load_file(run / "encoder.safetensors"), strict=True)
    loaded = load_model(run)
    assert loaded.classes == TRAIN.classes
    images = torch.stack([loaded.transform(TESTS["test"].image(i).pixels()) for i in range(40)])
    with torch.no_grad():
        predicted = network(images).argmax(dim=1)
    labels = torch.from_numpy(TESTS["test"].labels)
    metrics = json.loads((run / "result.json").read_text())["metrics"]
    assert 100 * float((predicted == labels).float().mean()) == pytest.approx(metrics["test top1"])


def test_an_audit_uses_the_head_of_the_run(run: Path) -> None:
    report = unshortcut.audit(run, TESTS["test"], only=["confidence"], console=QUIET)
    metrics = json.loads((run / "result.json").read_text())["metrics"]
    values = report.to_dict()["models"]["run"]
    assert values["classifier"] == "its own head of 8 classes"
    assert 100 * values["metrics"]["accuracy"]["value"] == pytest.approx(metrics["test top1"])


def test_a_finished_run_does_not_answer_for_data_it_was_not_tested_on(
    run: Path, model: Path
) -> None:
    others = {"other": Shapes("test", size=24, count=8)}
    with pytest.raises(UsageError, match="is finished, and was not tested on 'other'"):
        finetune(model, TRAIN, "classify", run, tests=others, sets=SETS)


def test_a_size_that_the_encoder_does_not_take_is_refused_before_anything_is_written(
    tmp_path: Path,
) -> None:
    sets = [*SETS, "views.size=32"]
    with pytest.raises(UsageError, match=r"is for images of 224 px and cannot take those of 32 px"):
        finetune("timm:vit_tiny_patch16_224@random", TRAIN, out=tmp_path / "r", sets=sets)
    assert not (tmp_path / "r").exists()


def test_a_misspelt_task_is_answered_as_one(model: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"unknown task 'clasify'; did you mean 'classify'\?"):
        finetune(model, TRAIN, "clasify", tmp_path / "r")


def test_other_settings_or_weights_are_not_resumed(run: Path, tmp_path: Path) -> None:
    def with_changes(model: Path, *changes: str) -> Callable[[], object]:
        return lambda: finetune(model, TRAIN, "classify", run, tests=TESTS, sets=[*SETS, *changes])

    with pytest.raises(UsageError, match=r"the protocol differs (.|\n)*optimizer.lr: 0.001 -> 0.5"):
        with_changes(tiny_model(tmp_path), "optimizer.lr=0.5")()
    with pytest.raises(UsageError, match="started from other weights"):
        with_changes(tiny_model(tmp_path, seed=1))()
