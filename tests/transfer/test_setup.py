"""How the settings of a protocol reach the network."""

from pathlib import Path

import pytest
import torch
from rich.console import Console

from tests.transfer.made import QUICK, tiny_model
from unshortcut.data.open import open_data
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.transfer.data import open_task_data
from unshortcut.transfer.protocol import load_protocol
from unshortcut.transfer.setup import Setup
from unshortcut.transfer.start import load_start
from unshortcut.transfer.task import Task

QUIET = Console(quiet=True)


def built(folder: Path, *sets: str, task: str = "classify") -> Task:
    protocol = load_protocol(task, [*QUICK, *sets], size=24)
    scenes = open_data("shapes", split="scene-train", size=32, count=8)
    source = Shapes("train", size=24, count=16) if task == "classify" else scenes
    data = open_task_data(protocol, source, {}, QUIET)
    return Setup(protocol, load_start(tiny_model(folder))).build(data)


def test_gradients_are_checkpointed_where_they_can_be(tmp_path: Path) -> None:
    assert not built(tmp_path).encoder.checkpointed
    assert built(tmp_path, "training.gradient_checkpointing=true").encoder.checkpointed
    with pytest.raises(UsageError, match="gradient_checkpointing: not for boxes and masks"):
        built(tmp_path, "training.gradient_checkpointing=true", task="segment")


@pytest.mark.parametrize("last", [True, False])
def test_weights_have_the_layout_that_is_asked_for(last: bool, tmp_path: Path) -> None:
    task = built(tmp_path, f"training.channels_last={str(last).lower()}")
    weight = task.encoder.model.layer1[0].conv1.weight
    assert weight.is_contiguous(memory_format=torch.channels_last) == last
