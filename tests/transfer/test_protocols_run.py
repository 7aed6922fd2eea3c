"""Every protocol of classification trains, with whatever augmentations and optimizer it states."""

import math
from pathlib import Path

import pytest
import torch
from rich.console import Console

import unshortcut
from tests.methods.small_runs import small_run
from tests.methods.test_mae import SMALL
from tests.transfer.made import QUICK
from unshortcut.data.shapes import Shapes
from unshortcut.models.card import read_weights
from unshortcut.training.folder import RunFolder
from unshortcut.training.logs import read_log
from unshortcut.transfer.finetuning import finetune
from unshortcut.transfer.protocol import load_protocol

NAMES = [
    name for name in unshortcut.list_protocols() if load_protocol(name).task.name == "classify"
]


@pytest.fixture(scope="module")
def vit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_run("mae-shapes", tmp_path_factory.mktemp("mae") / "run", SMALL).folder


@pytest.mark.parametrize("name", NAMES)
def test_it_trains_and_is_scored(name: str, vit: Path, tmp_path: Path) -> None:
    before = read_weights(RunFolder(vit).weights)
    run = finetune(
        vit,
        Shapes("train", size=32, count=160),
        out=tmp_path / "run",
        protocol=name,
        tests={"test": Shapes("test", size=32, count=16)},
        sets=[*QUICK, "views.size=24", "data.fraction=1", "schedule={steps: 8, epochs: null}"],
        console=Console(quiet=True),
    )
    assert 0 <= run.metrics["test top1"] <= 100
    after = read_weights(RunFolder(run.folder).weights)
    head = {"head.weight", "head.bias"}
    assert set(after) == set(before) | head
    # Every matrix of the encoder moves where it is trained, and none where it is frozen.
    frozen = load_protocol(name).train.encoder == "none"
    matrices = [key for key in before if key.endswith("weight") and before[key].dim() > 1]
    moved = {key for key in matrices if not torch.equal(after[key], before[key])}
    assert moved == (set() if frozen else set(matrices))
    assert all(value.isfinite().all() for value in after.values())
    losses = [entry["loss"] for entry in read_log(RunFolder(run.folder).log) if "loss" in entry]
    assert len(losses) == 8 and all(math.isfinite(loss) for loss in losses)
    assert after["head.bias"].abs().max() > 0, "it starts at 0"
