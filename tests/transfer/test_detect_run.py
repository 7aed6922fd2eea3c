"""A run of fine-tuning for detection: resumed to the bit, saved, and loaded as a detector."""

from pathlib import Path
from typing import Any

import pytest
import torch
from lightning.pytorch import Trainer
from safetensors.torch import load_file

from tests.transfer.made import QUICK, tiny_model
from unshortcut.data.shapes import Shapes
from unshortcut.transfer.finetuning import finetune
from unshortcut.transfer.loading import load_detector
from unshortcut.transfer.tasks.detect import Detect

SIZE = 48
TRAIN = Shapes("scene-train", size=SIZE, count=16)
TESTS = {"test": Shapes("scene-test", size=SIZE, count=4)}
SETS = [
    *QUICK,
    "data.batch_size=4",
    "data.validation=0.25",
    f"views.size={SIZE}",
    f"views.augmentations=[{{name: resize_shortest, sizes: [{SIZE}]}}, {{name: horizontal_flip}}]",
    "task={name: detect, channels: 8, hidden: 16, region_samples: 16, proposals: 20}",
    "schedule={epochs: 2, head_first: 0.25}",
]


class KilledError(Exception):
    """Stands for kill -9."""


def test_a_killed_run_ends_with_the_weights_of_one_that_was_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tiny_model(tmp_path)

    def run(name: str) -> Path:
        return finetune(
            model,
            TRAIN,
            "detect",
            tmp_path / name,
            protocol="detect-shapes",
            tests=TESTS,
            sets=SETS,
        ).folder

    whole = run("whole")

    def kill(self: Detect, *given: Any) -> None:
        trainer: Trainer = self.trainer
        if trainer.global_step == 4:
            raise KilledError

    with monkeypatch.context() as patch, pytest.raises(KilledError):
        patch.setattr(Detect, "on_train_batch_end", kill)
        run("killed")
    resumed = run("killed")
    for name in ("detector.safetensors", "last.safetensors"):
        first, second = load_file(whole / name), load_file(resumed / name)
        assert first.keys() == second.keys()
        assert all(torch.equal(first[key], second[key]) for key in first)
    initial, trained = load_file(model), load_file(whole / "last.safetensors")
    assert not torch.equal(trained["backbone.body.conv1.weight"], initial["conv1.weight"])
    (found,) = load_detector(whole)([torch.rand(3, SIZE, SIZE)])
    assert set(found) == {"boxes", "labels", "scores"}
