"""A loss or weights that are not finite stop the run, before they reach a checkpoint."""

import math
from typing import Any

import torch
from lightning.pytorch import Callback, LightningModule, Trainer
from torch import nn

from unshortcut.distributed import any_rank
from unshortcut.errors import RunError
from unshortcut.methods.method import method_of
from unshortcut.training.checkpoint import Checkpointing


class StopOnDivergence(Callback):
    """Must come before `Checkpointing` in the list of callbacks."""

    def __init__(self, checkpointing: Checkpointing) -> None:
        self.checkpointing = checkpointing

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        loss = float(method_of(pl_module).last.loss.detach())
        # On any rank: the gradient is averaged, so one bad loss spoils the weights of all.
        if any_rank(not math.isfinite(loss)):
            here = not math.isfinite(loss)
            what = f"the loss is {loss}" if here else "the loss is not finite on another device"
            raise self._error(what, trainer.global_step)
        if self.checkpointing.due(trainer, batch_idx):
            self._check_weights(trainer, pl_module)

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._check_weights(trainer, pl_module)

    def _check_weights(self, trainer: Trainer, module: nn.Module) -> None:
        """A step can leave weights of infinity after a loss that was still finite."""
        if not all(bool(torch.isfinite(p).all()) for p in module.parameters()):
            raise self._error("the weights are no longer finite", trainer.global_step)

    def _error(self, what: str, step: int) -> RunError:
        good = self.checkpointing.last_step
        where = (
            "there was no checkpoint yet"
            if good is None
            else f"the last good checkpoint, of step {good}, is '{self.checkpointing.path.name}' "
            "in the run folder"
        )
        return RunError(f"{what} at step {step}; {where}. A lower learning rate helps.")
