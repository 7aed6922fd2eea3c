"""Progress of a training: a bar with speed, time left and loss; plain lines without a terminal."""

import time
from typing import Any

from lightning.pytorch import Callback, LightningModule, Trainer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from unshortcut.methods.method import method_of

_REFRESH_SECONDS = 0.25


class TrainingProgress(Callback):
    """One bar for the run, updated by the training thread, so that it needs no core of its own."""

    def __init__(self, console: Console, label: str) -> None:
        self.console = console
        self.label = label
        self.note = ""
        """Text at the end of the bar, e.g. the kNN accuracy."""
        self._progress: Progress | None = None
        self._task = TaskID(0)
        self._updated = 0.0
        self._window: list[tuple[float, int]] = []
        self._images = 0

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._window = [(time.monotonic(), 0)]
        self._images = 0
        if not trainer.is_global_zero or not self.console.is_terminal:
            return
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("{task.fields[speed]} images/s"),
            TimeRemainingColumn(elapsed_when_finished=True),
            TextColumn("loss {task.fields[loss]}  {task.fields[note]}"),
            console=self.console,
            auto_refresh=False,
        )
        self._progress.start()
        total = trainer.num_training_batches * (trainer.max_epochs or 1)
        if trainer.max_steps >= 0:
            total = min(total, trainer.max_steps * trainer.accumulate_grad_batches)
        done = int(method_of(pl_module).batches_seen)
        self._task = self._progress.add_task(
            self.label, total=total, completed=done, speed="…", loss="…", note=""
        )

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        self._images += len(batch["index"]) * trainer.world_size
        now = time.monotonic()
        if self._progress is None or now - self._updated < _REFRESH_SECONDS:
            return
        self._updated = now
        self._window = [*self._window[-40:], (now, self._images)]
        self._progress.update(
            self._task,
            completed=int(method_of(pl_module).batches_seen),
            description=f"{self.label} epoch {trainer.current_epoch + 1}/{trainer.max_epochs}",
            speed=self._speed(),
            loss=_loss(pl_module),
            note=self.note,
        )
        self._progress.refresh()

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if not trainer.is_global_zero or self.console.is_terminal:
            return
        self._window = [*self._window[-40:], (time.monotonic(), self._images)]
        self.console.print(
            f"{self.label} epoch {trainer.current_epoch + 1}/{trainer.max_epochs}  "
            f"{self._speed()} images/s  loss {_loss(pl_module)}  {self.note}".rstrip(),
            highlight=False,
        )

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if self._progress is not None:
            self._progress.update(
                self._task, completed=int(method_of(pl_module).batches_seen), note=self.note
            )
            self._progress.refresh()
        self._stop()

    def on_exception(
        self, trainer: Trainer, pl_module: LightningModule, exception: BaseException
    ) -> None:
        self._stop()

    def _stop(self) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None

    def _speed(self) -> str:
        (then, before), (now, after) = self._window[0], self._window[-1]
        speed = (after - before) / max(now - then, 1e-9)
        return f"{speed:.0f}" if speed >= 10 else f"{speed:.1f}"


def _loss(module: LightningModule) -> str:
    return f"{float(method_of(module).last.loss.detach()):.3f}"
