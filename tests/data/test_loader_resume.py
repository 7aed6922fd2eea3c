"""A run that is resumed by Lightning goes on with the batch after its checkpoint's."""

from pathlib import Path
from typing import Any

import lightning
import numpy as np
import pytest
import torch
from torch import Tensor

from tests.data.test_loader import Numbers
from unshortcut.data.batches import LoadedBatch
from unshortcut.data.loader import ViewLoader
from unshortcut.data.source import Image

IMAGES, BATCH, EPOCHS = 22, 4, 3
BATCHES = IMAGES // BATCH


def plain(image: Image, seed: int, epoch: int, index: int) -> dict[str, np.ndarray]:
    return {"view": image.pixels()}


class Recorder(lightning.LightningModule):
    """Trains one weight, and records (epoch, batch index, image indices) of every step."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(()))
        self.seen: list[tuple[int, int, list[int]]] = []

    def training_step(self, batch: LoadedBatch, batch_idx: int) -> Tensor:
        self.seen.append((self.trainer.current_epoch, batch_idx, batch["index"].tolist()))
        return self.weight * batch["index"].float().mean() / 100

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1)


class KilledError(Exception):
    """Stands for the end of a process."""


class Killer(lightning.Callback):
    """Saves a checkpoint after a number of batches, and ends the run the hard way.

    After the last batch of an epoch it saves at the epoch's end: from a checkpoint of that
    batch's end Lightning resumes with epoch counters that make the next resume start the epoch
    anew.
    """

    def __init__(self, after: int, path: Path) -> None:
        self.after = after
        self.path = path

    def on_train_batch_end(self, trainer: lightning.Trainer, *_: Any) -> None:
        if not trainer.is_last_batch:
            self._kill_if_due(trainer)

    def on_train_epoch_end(self, trainer: lightning.Trainer, *_: Any) -> None:
        self._kill_if_due(trainer)

    def _kill_if_due(self, trainer: lightning.Trainer) -> None:
        if trainer.fit_loop.epoch_loop.batch_progress.total.processed == self.after:
            trainer.save_checkpoint(self.path)
            raise KilledError


def train(
    folder: Path,
    *,
    workers: int = 0,
    accumulate: int = 1,
    kill_after: int | None = None,
    resume: Path | None = None,
) -> Recorder:
    loader = ViewLoader(Numbers(IMAGES), plain, batch_size=BATCH, seed=7, workers=workers)
    module = Recorder()
    killer = None if kill_after is None else Killer(kill_after, folder / "k.ckpt")
    trainer = lightning.Trainer(
        accelerator="cpu",
        devices=1,
        max_epochs=EPOCHS,
        accumulate_grad_batches=accumulate,
        callbacks=[] if killer is None else [killer],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=folder,
    )
    try:
        trainer.fit(module, loader, ckpt_path=resume)
    except KilledError:
        pass
    finally:
        loader.close()
    return module


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("accumulate", [1, 2])
def test_killed_twice_and_resumed_a_run_sees_what_an_unbroken_one_sees(
    tmp_path: Path, workers: int, accumulate: int
) -> None:
    whole = train(tmp_path, accumulate=accumulate)
    assert len(whole.seen) == EPOCHS * BATCHES
    # Between steps only: with accumulation that is after batches 2, 4 and 5 of an epoch.
    kills = [(1, 3), (4, 5), (5, 6), (5, 10), (10, 13)]
    if accumulate == 2:
        kills = [(2, 4), (4, 5), (5, 7), (5, 10), (10, 14)]
    for first_kill, second_kill in kills:
        first = train(tmp_path, workers=workers, accumulate=accumulate, kill_after=first_kill)
        second = train(
            tmp_path,
            workers=workers,
            accumulate=accumulate,
            kill_after=second_kill,
            resume=tmp_path / "k.ckpt",
        )
        third = train(tmp_path, workers=workers, accumulate=accumulate, resume=tmp_path / "k.ckpt")
        assert first.seen + second.seen + third.seen == whole.seen, (first_kill, second_kill)
        assert torch.equal(third.weight, whole.weight)
