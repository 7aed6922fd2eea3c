"""Runs in half precision as on a GPU, with a gradient scaler, on the autocast of the CPU.

Lightning would change `16-mixed` to bfloat16 on a CPU, so its plugin for GPUs is given to it.
"""

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from lightning.pytorch import Trainer
from lightning.pytorch.plugins import MixedPrecision

from tests.small import TINY_RECIPE
from unshortcut.data.shapes import Shapes
from unshortcut.errors import RunError
from unshortcut.methods.method import Method
from unshortcut.training import pretraining
from unshortcut.training import trainer as training_loop
from unshortcut.training.checkpoint import load_checkpoint
from unshortcut.training.logs import read_log
from unshortcut.training.pretraining import pretrain

SOURCE = Shapes("train", size=32, count=96)
STEPS = 6
"""Two epochs of three batches."""


class RecordingScaler(torch.amp.GradScaler):
    """A scaler that remembers what each update left."""

    def __init__(self, **options: Any) -> None:
        super().__init__("cpu", **options)
        self.scales: list[float] = []

    def update(self, new_scale: float | torch.Tensor | None = None) -> None:
        super().update(new_scale)
        self.scales.append(self.get_scale())


def in_half_precision(patch: pytest.MonkeyPatch, **options: Any) -> list[RecordingScaler]:
    """Let every trainer compute in half precision; returns the scalers of those to come."""
    scalers = []

    def trainer(plugins: Iterable[Any], **rest: Any) -> Trainer:
        scalers.append(RecordingScaler(**options))
        plugin = MixedPrecision("16-mixed", "cpu", scalers[-1])
        return Trainer(plugins=[*plugins, plugin], **{**rest, "precision": None})

    patch.setattr(training_loop, "Trainer", trainer)
    return scalers


def state_of(run: Path) -> dict[str, Any]:
    return load_checkpoint(run / "checkpoint.ckpt")


def test_steps_that_overflow_are_skipped_and_are_no_divergence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scalers = in_half_precision(monkeypatch, init_scale=2.0**60, backoff_factor=2.0**-30)
    weights: list[torch.Tensor] = []
    start = Method.on_train_batch_start

    def recorded(self: Method, batch: Any, batch_idx: int) -> None:
        start(self, batch, batch_idx)
        weights.append(self.encoder.model.conv1.weight.detach().clone())

    monkeypatch.setattr(Method, "on_train_batch_start", recorded)
    run = pretrain(TINY_RECIPE, SOURCE, tmp_path, sets=["training.log_steps=1"])
    assert scalers[0].scales == [2.0**30] + [1.0] * (STEPS - 1)
    skipped = [torch.equal(a, b) for a, b in pairwise(weights)]
    assert skipped == [True, True] + [False] * (STEPS - 3)
    entries = [entry for entry in read_log(tmp_path / "log.jsonl") if "loss" in entry]
    assert [entry["step"] for entry in entries] == list(range(1, STEPS + 1))
    assert run.metrics["loss"] > 0
    state = state_of(tmp_path)["state_dict"]
    assert all(bool(tensor.isfinite().all()) for tensor in state.values())
    queue = state["sources.0.queue.rows"]
    torch.testing.assert_close(queue.norm(dim=1), torch.ones(len(queue)), rtol=0, atol=2e-3)


def test_activations_that_overflow_are_divergence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_half_precision(monkeypatch)
    build = pretraining.build_method

    def enlarged(*arguments: Any) -> Method:
        method = build(*arguments)
        with torch.no_grad():
            method.encoder.model.conv1.weight *= 1e6
        return method

    monkeypatch.setattr(pretraining, "build_method", enlarged)
    with pytest.raises(RunError, match="the loss is nan at step 1"):
        pretrain(TINY_RECIPE, SOURCE, tmp_path)


def test_a_resumed_run_has_the_scale_and_the_weights_of_an_unbroken_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scalers = in_half_precision(monkeypatch, init_scale=4.0, growth_interval=2)
    pretrain(TINY_RECIPE, SOURCE, tmp_path / "whole")

    step = Method.training_step

    def killed(self: Method, batch: Any, batch_idx: int) -> torch.Tensor:
        if int(self.batches_seen) == 3:
            raise KeyboardInterrupt
        return step(self, batch, batch_idx)

    with monkeypatch.context() as patch:
        patch.setattr(Method, "training_step", killed)
        with pytest.raises((KeyboardInterrupt, SystemExit)):
            pretrain(TINY_RECIPE, SOURCE, tmp_path / "broken")
    pretrain(TINY_RECIPE, SOURCE, tmp_path / "broken", resume=True)

    assert scalers[0].scales == [4, 8, 8, 16, 16, 32]
    assert scalers[1].scales + scalers[2].scales == scalers[0].scales
    whole, broken = (state_of(tmp_path / name)["state_dict"] for name in ("whole", "broken"))
    assert all(torch.equal(broken[name], tensor) for name, tensor in whole.items())
