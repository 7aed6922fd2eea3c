"""The log of a run: `log.jsonl` and TensorBoard."""

import json
import math
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from lightning.pytorch import Callback, LightningModule, Trainer
from torch import Tensor
from torch.utils.tensorboard import SummaryWriter

from unshortcut.data.failures import FailureLog
from unshortcut.distributed import gather_lists
from unshortcut.files import write_text
from unshortcut.methods.method import method_of
from unshortcut.training.folder import RunFolder
from unshortcut.training.safeguards import after_step, ends_epoch

COLLAPSED = 0.1
"""An embedding std below this value counts as collapse."""


def embedding_std(embeddings: Tensor) -> float:
    """Mean std of unit embeddings (N, D) times √D: 1 if uniform on the sphere, 0 for one point."""
    return float(embeddings.float().std(dim=0).mean() * math.sqrt(embeddings.shape[1]))


class RunLog:
    """Writes `log.jsonl` and TensorBoard; entries after the step resumed from are dropped."""

    def __init__(self, folder: RunFolder, from_step: int) -> None:
        self._path = folder.log
        kept = [entry for entry in read_log(folder.log) if entry["step"] <= from_step]
        write_text(folder.log, "".join(json.dumps(entry) + "\n" for entry in kept))
        self._writer = SummaryWriter(str(folder.tensorboard), purge_step=from_step + 1)

    def write(self, step: int, metrics: dict[str, float]) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"step": step, **metrics}) + "\n")
        for name, value in metrics.items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        self._writer.close()


def read_log(path: Path) -> list[dict[str, float]]:
    """Read the entries of a `log.jsonl`, without a line that was cut off by a kill."""
    entries = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        with suppress(ValueError):
            entries.append(json.loads(line))
    return entries


class LogWriter(Callback):
    """Logs every few steps and after each epoch, warns of collapse, lists unreadable images."""

    def __init__(self, folder: RunFolder, every: int) -> None:
        self.folder = folder
        self.every = every
        self.failures = FailureLog(folder.skipped)
        self.run_log: RunLog | None = None
        self._warned = False
        self._since = (0.0, 0)
        self._failed: list[tuple[str, str]] = []

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if trainer.is_global_zero:
            self.run_log = RunLog(self.folder, trainer.global_step)
        self._since = (time.monotonic(), 0)

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        self._failed += batch["failures"]
        if trainer.world_size == 1 and batch["failures"]:
            self._list_failures(trainer)
        started, images = self._since
        self._since = (started, images + len(batch["index"]) * trainer.world_size)
        method = method_of(pl_module)
        step = method.last
        last = ends_epoch(trainer, batch_idx)
        regular = after_step(trainer, batch_idx) and trainer.global_step % self.every == 0
        if not self.run_log or not (last or regular):
            return
        metrics = {
            "epoch": trainer.current_epoch + (batch_idx + 1) / trainer.num_training_batches,
            "loss": float(step.loss.detach()),
            "lr": trainer.optimizers[0].param_groups[0]["lr"],
        }
        if step.embeddings is not None:
            metrics["embedding_std"] = embedding_std(step.embeddings)
            if method.can_collapse:
                self._warn_of_collapse(metrics["embedding_std"], trainer.global_step)
        metrics |= {name: float(value) for name, value in step.metrics.items()}
        metrics["images_per_second"] = self._speed()
        self.run_log.write(trainer.global_step, metrics)

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if trainer.world_size > 1:
            self._list_failures(trainer)

    def _list_failures(self, trainer: Trainer) -> None:
        failed = gather_lists(self._failed)
        self._failed = []
        if trainer.is_global_zero:
            self.failures.add(failed)

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if self.run_log:
            self.run_log.close()

    def on_exception(
        self, trainer: Trainer, pl_module: LightningModule, exception: BaseException
    ) -> None:
        self.on_train_end(trainer, pl_module)

    def _speed(self) -> float:
        started, images = self._since
        now = time.monotonic()
        self._since = (now, 0)
        return images / max(now - started, 1e-9)

    def _warn_of_collapse(self, value: float, step: int) -> None:
        if value < COLLAPSED and not self._warned:
            self._warned = True
            warnings.warn(
                f"the embedding has collapsed: its std is {value:.3f} at step {step}, where 1 is "
                "uniform and 0 a single point. Try a lower learning rate or a warm-up.",
                stacklevel=2,
            )
