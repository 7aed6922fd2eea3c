"""Exact resume with every method and every source of negatives."""

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.small import TINY, TINY_RECIPE
from unshortcut.data.shapes import Shapes
from unshortcut.methods.method import Method
from unshortcut.recipes.load import load_recipe
from unshortcut.training.checkpoint import load_checkpoint
from unshortcut.training.pretrain import pretrain

IMAGES = Shapes("train", size=24, count=96)  # 3 batches of 32 an epoch
STOP_AFTER = 4

QUEUE = {"name": "queue", "size": 48}
RISING = {"kind": "linear", "first": 0.5}
SMALL = {"hidden": 16, "dim": 8}
CASES: dict[str, dict[str, Any]] = {
    "moco, patch and texture": {
        "name": "moco",
        **SMALL,
        "batch_norm_groups": 4,
        "negatives": [
            QUEUE,
            {"name": "patch", "count": 2, "schedule": RISING},
            {"name": "texture", "patch": 8, "placement": "outside"},
        ],
    },
    "simclr, patch with gradient": {
        "name": "simclr",
        **SMALL,
        "negatives": [{"name": "batch"}, {"name": "patch", "of": "image"}],
        "negative_gradient": True,
    },
    "byol, patch and regular": {
        "name": "byol",
        **SMALL,
        "negatives": [{"name": "patch", "alpha": 0.05}, {"name": "regular", "alpha": 0.1}],
    },
}


class KilledError(Exception):
    """Stands for whatever ends a run in the middle."""


@pytest.mark.parametrize("case", CASES)
def test_a_run_that_died_goes_on_to_the_same_weights(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = load_recipe({**TINY_RECIPE, "encoder": TINY.model_dump(), "method": CASES[case]})
    pretrain(recipe, IMAGES, tmp_path / "whole")

    with monkeypatch.context() as patch:
        begin = Method.on_train_batch_start

        def die(self: Method, batch: Any, batch_idx: int) -> None:
            if int(self.batches_seen) == STOP_AFTER:
                raise KilledError
            begin(self, batch, batch_idx)

        patch.setattr(Method, "on_train_batch_start", die)
        with pytest.raises(KilledError):
            pretrain(recipe, IMAGES, tmp_path / "dead")
    pretrain(recipe, IMAGES, tmp_path / "dead", resume=True)

    whole, resumed = (
        load_checkpoint(tmp_path / name / "checkpoint.ckpt")["state_dict"]
        for name in ("whole", "dead")
    )
    assert whole.keys() == resumed.keys()
    for name, value in whole.items():
        assert torch.equal(value, resumed[name]), name
