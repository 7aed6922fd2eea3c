"""A batch in pinned memory and on its way to a GPU: torch's and Lightning's own functions."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from lightning.fabric.utilities.apply_func import move_data_to_device
from torch import Tensor
from torch.utils.data._utils.pin_memory import pin_memory

from unshortcut.data.batches import LoadedBatch, LoadedSample, collate
from unshortcut.data.failures import FailureLog

VIEWS = ("query", "key")


def loaded_batch() -> LoadedBatch:
    """Two images of two views; one of them replaces an image that could not be read."""
    rng = np.random.default_rng(0)
    samples = [
        LoadedSample(
            views={name: rng.integers(256, size=(5, 7, 3), dtype=np.uint8) for name in VIEWS},
            index=index,
            label=1,
            failures=[("bad.jpg", "no image")] * index,
            metadata={"key": np.array([True, False])},
        )
        for index in (0, 1)
    ]
    return collate(samples)


def tensors(batch: LoadedBatch) -> list[Tensor]:
    return [*batch["views"].values(), batch["index"], batch["label"], *batch["metadata"].values()]


def test_every_tensor_is_pinned_and_keeps_its_layout(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pinned_ids = []

    def fake(self: Tensor, device: object = None) -> Tensor:
        copy = self.clone()  # pinning itself needs a GPU
        pinned_ids.append(id(copy))
        return copy

    batch = loaded_batch()
    monkeypatch.setattr(Tensor, "pin_memory", fake)
    pinned = pin_memory(batch)
    assert pinned.keys() == batch.keys()
    for before, after in zip(tensors(batch), tensors(pinned), strict=True):
        assert id(after) in pinned_ids and torch.equal(before, after)
        assert before.stride() == after.stride()
    assert pinned["views"]["query"].is_contiguous(memory_format=torch.channels_last)
    # torch makes lists of the pairs in `failures`; they are still listed.
    FailureLog(tmp_path / "skipped.jsonl").add(pinned["failures"])
    entry = json.loads((tmp_path / "skipped.jsonl").read_text())
    assert entry == {"identity": "bad.jpg", "reason": "no image"}


def test_every_tensor_goes_to_the_device_and_nothing_else_changes() -> None:
    batch = loaded_batch()
    moved = move_data_to_device(batch, torch.device("meta"))
    assert {tensor.device.type for tensor in tensors(moved)} == {"meta"}
    assert [tensor.shape for tensor in tensors(moved)] == [one.shape for one in tensors(batch)]
    assert moved["views"]["key"].is_contiguous(memory_format=torch.channels_last)
    assert moved["failures"] == batch["failures"]
