"""The metric on held-out images while a task trains, and the weights that were best by it."""

import math
from collections.abc import Mapping
from typing import Any

import torch
from lightning.pytorch import Callback, LightningModule, Trainer
from safetensors.torch import load_file, save
from torch import Tensor

from unshortcut.files import write_bytes
from unshortcut.training.trainer import TrainingLoop
from unshortcut.transfer.evaluation import Evaluation
from unshortcut.transfer.folder import TransferFolder
from unshortcut.transfer.task import Task


class Validation(Callback):
    """Measures after each epoch, on rank 0, and keeps the weights of the highest value."""

    def __init__(
        self, evaluation: Evaluation, metric: str, folder: TransferFolder, loop: TrainingLoop
    ) -> None:
        self.evaluation = evaluation
        self.metric = metric
        self.folder = folder
        self.loop = loop
        self.best: float | None = None

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if not trainer.is_global_zero:
            return
        assert isinstance(pl_module, Task)
        metrics = self.evaluation.score(pl_module)
        self.loop.log.failures.add(self.evaluation.failures)
        value = metrics[self.metric]
        # A metric may be undefined, for instance if the held-out images show no class. Of equal
        # ones, which few images often give, the weights that were trained longest are the best.
        if self.best is None or value >= self.best or math.isnan(self.best):
            self.best = value
            write_bytes(self.folder.best_state, save(_copies(pl_module.state_dict())))
        self.loop.progress.note = f"{self.metric} {value:.1f} (best {self.best:.1f})"
        if log := self.loop.log.run_log:
            entries = {f"validation_{name}": one for name, one in metrics.items()}
            log.write(trainer.global_step, {"epoch": trainer.current_epoch + 1, **entries})

    def state_dict(self) -> dict[str, Any]:
        return {"best": self.best}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.best = state_dict["best"]

    def load_best(self, task: Task) -> None:
        """Give a task the best weights."""
        with torch.no_grad():
            task.load_state_dict(load_file(self.folder.best_state))


def _copies(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Copies in memory order: the file format allows no tensor with two names or strides."""
    row_by_row = torch.contiguous_format
    return {n: t.detach().cpu().clone(memory_format=row_by_row) for n, t in state.items()}
