"""Runs of a recipe that take a second or two, and what it means to resume one."""

import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch
from torch import Tensor

from tests.small import TINY
from unshortcut.data.shapes import Shapes
from unshortcut.data.source import ImageSource
from unshortcut.errors import InterruptedRunError
from unshortcut.methods.method import Method
from unshortcut.training.checkpoint import load_checkpoint
from unshortcut.training.folder import RunFolder
from unshortcut.training.pretraining import PretrainingRun, pretrain

SMALL = (
    "data.batch_size=32",
    "data.workers=0",
    "views.size=24",
    f"encoder.options={TINY.options}",
    "schedule.epochs=2",
    "schedule.warmup_epochs=0",
    "training.knn_epochs=0",
)


def small_run(
    recipe: str,
    out: Path,
    sets: Sequence[str] = (),
    *,
    source: ImageSource | None = None,
    resume: bool = False,
) -> PretrainingRun:
    """Two epochs of three batches with a tiny encoder."""
    source = source or Shapes("train", size=32, count=96)
    return pretrain(recipe, source, out, sets=[*SMALL, *sets], resume=resume)


def assert_resumes_exactly(
    recipe: str, folder: Path, sets: Sequence[str] = (), source: ImageSource | None = None
) -> None:
    """A run that is stopped in its first epoch and resumed ends as one that is not, to the bit."""
    small_run(recipe, folder / "whole", sets, source=source)
    start = Method.on_train_batch_start

    def stop_at_the_second(method: Method, batch: Any, batch_idx: int) -> None:
        start(method, batch, batch_idx)
        if int(method.batches_seen) == 1:
            signal.raise_signal(signal.SIGTERM)

    with (
        patch.object(Method, "on_train_batch_start", stop_at_the_second),
        pytest.raises(InterruptedRunError, match="after step 2"),
    ):
        small_run(recipe, folder / "stopped", sets, source=source)
    small_run(recipe, folder / "stopped", sets, source=source, resume=True)
    whole, resumed = (
        load_checkpoint(RunFolder(folder / name).checkpoint)["state_dict"]
        for name in ("whole", "stopped")
    )
    assert whole.keys() == resumed.keys()
    for name, value in whole.items():
        assert torch.equal(value, resumed[name]), name


def assert_close_vits(one: Mapping[str, Tensor], other: Mapping[str, Tensor], atol: float) -> None:
    """Weights of two ViTs differ in rounding only.

    The bias of keys adds the same number to all logits of a query, so that it has no effect. Its
    gradient is rounding alone, of which adaptive optimizers make whole steps.
    """
    assert one.keys() == other.keys()
    for name, value in one.items():
        parts = value.chunk(3)[::2] if name.endswith("qkv.bias") else (value,)
        others = other[name].chunk(3)[::2] if name.endswith("qkv.bias") else (other[name],)
        for found, expected in zip(others, parts, strict=True):
            torch.testing.assert_close(found, expected, rtol=0, atol=atol, msg=name)
