"""Checkpoints: whole or absent, taken between optimizer steps, loaded as plain data."""

import pickle
import time
from pathlib import Path
from typing import Any

import torch
from lightning.fabric.plugins import CheckpointIO
from lightning.pytorch import Callback, LightningModule, Trainer

from unshortcut.errors import RunError, UsageError
from unshortcut.files import atomic_open


class WholeFileIO(CheckpointIO):
    """Writes aside in the same folder, syncs, renames; reads with `weights_only`.

    Lightning's own goes through the system's temporary folder, which may be another disk.
    """

    def save_checkpoint(
        self, checkpoint: dict[str, Any], path: Any, storage_options: Any | None = None
    ) -> None:
        try:
            with atomic_open(path) as file:
                torch.save(checkpoint, file)
        except (OSError, RuntimeError) as error:  # torch turns a full disk into a RuntimeError
            raise RunError(
                f"the checkpoint '{Path(path).name}' could not be written ({error}); "
                "the one before it is untouched"
            ) from error

    def load_checkpoint(
        self, path: Any, map_location: Any | None = None, weights_only: bool | None = None
    ) -> dict[str, Any]:
        return load_checkpoint(Path(path))

    def remove_checkpoint(self, path: Any) -> None:
        Path(path).unlink(missing_ok=True)


def load_checkpoint(path: Path) -> dict[str, Any]:
    """A checkpoint's plain values and tensors; a file that would execute something is refused."""
    try:
        checkpoint: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError, KeyError) as error:
        reason = str(error).splitlines()[0]
        raise UsageError(f"'{path.name}' is no checkpoint that is safe to load: {reason}") from None
    return checkpoint


class Checkpointing(Callback):
    """A checkpoint after each epoch, every `minutes`, every `steps`, and when asked to stop."""

    def __init__(self, path: Path, minutes: float, steps: int | None) -> None:
        self.path = path
        self.seconds = minutes * 60
        self.steps = steps
        self.last_step: int | None = None
        """The step of the checkpoint that is there, None where there is none."""
        self._saved_at = time.monotonic()

    def save(self, trainer: Trainer) -> None:
        trainer.save_checkpoint(self.path)
        self._saved_at = time.monotonic()
        self.last_step = trainer.global_step

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._saved_at = time.monotonic()
        self.last_step = trainer.global_step or None

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        if self.due(trainer, batch_idx):
            self.save(trainer)

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self.save(trainer)

    def due(self, trainer: Trainer, batch_idx: int) -> bool:
        """Whether to save after this batch; every rank must ask."""
        if not within_epoch(trainer, batch_idx):
            return False
        if self.steps and trainer.global_step - (self.last_step or 0) >= self.steps:
            return True
        overdue = time.monotonic() - self._saved_at > self.seconds
        return bool(trainer.strategy.broadcast(overdue))  # all ranks save at the same step


def after_step(trainer: Trainer, batch_idx: int) -> bool:
    """Whether the batch has ended with an optimizer step, with no gradient half accumulated."""
    last = batch_idx + 1 == trainer.num_training_batches
    return last or (batch_idx + 1) % trainer.accumulate_grad_batches == 0


def within_epoch(trainer: Trainer, batch_idx: int) -> bool:
    """Whether this is a place between two steps of one epoch.

    After the last batch of an epoch the place to save is `on_train_epoch_end`: Lightning replays
    an epoch whose checkpoint was taken just before its end.
    """
    return after_step(trainer, batch_idx) and batch_idx + 1 < trainer.num_training_batches
