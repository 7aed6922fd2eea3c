"""Every protocol of classification trains, with whatever augmentations and optimizer it states."""

from pathlib import Path

import pytest
from rich.console import Console

import unshortcut
from tests.methods.small_runs import small_run
from tests.methods.test_mae import SMALL
from tests.transfer.made import QUICK
from unshortcut.data.shapes import Shapes
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
    assert (run.folder / "encoder.safetensors").is_file()
