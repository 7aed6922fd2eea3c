"""When a run is saved and when it stops: divergence, signals, and checkpoints between steps."""

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from lightning.pytorch import Callback, LightningModule, Trainer

from unshortcut.distributed import any_rank
from unshortcut.errors import InterruptedRunError, RunError
from unshortcut.methods.method import method_of

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Checkpointing(Callback):
    """Saves after each epoch, every `minutes`, every `steps`, and before a signal stops the run.

    It must be the last callback, so that a step is logged before it is saved, and needs a
    `StepExchange` as the first one.
    """

    def __init__(self, path: Path, minutes: float, steps: int | None, how_to_resume: str) -> None:
        self.path = path
        self.seconds = minutes * 60
        self.steps = steps
        self.how_to_resume = how_to_resume
        self.signals = StopSignals()
        self.last_step: int | None = None
        """Step of the checkpoint on disk, None if there is none."""
        self.stop = self.save_due = False
        """What all ranks have agreed on after the current batch."""
        self._saved_at = time.monotonic()

    @property
    def overdue(self) -> bool:
        """Whether the last checkpoint is older than it should be, by this rank's clock."""
        return time.monotonic() - self._saved_at > self.seconds

    def save(self, trainer: Trainer) -> None:
        """Write a checkpoint; weights that are not finite raise `RunError` instead.

        A step can leave infinite weights after a loss that was still finite.
        """
        weights = trainer.lightning_module.parameters()
        if not all(bool(torch.isfinite(weight).all()) for weight in weights):
            raise self.divergence("the weights are no longer finite", trainer.global_step)
        trainer.save_checkpoint(self.path)
        self._saved_at = time.monotonic()
        self.last_step = trainer.global_step

    def divergence(self, what: str, step: int) -> RunError:
        """The error for a run that has diverged; it names the last good checkpoint."""
        where = "there is no checkpoint yet"
        if self.last_step is not None:
            name = f"'{self.path.name}' in the run folder"
            where = f"the last good checkpoint, of step {self.last_step}, is {name}"
        return RunError(f"{what} at step {step}; {where}. Try a lower learning rate.")

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        # Lightning has installed its own handlers by now, which raise in the middle of a step.
        self.signals.install()
        self._saved_at = time.monotonic()
        self.last_step = trainer.global_step or None

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        # After the last batch of an epoch, `on_train_epoch_end` saves: Lightning repeats an epoch
        # whose checkpoint was taken just before its end.
        if ends_epoch(trainer, batch_idx) or not after_step(trainer, batch_idx):
            return
        steps = trainer.global_step - (self.last_step or 0)
        if self.stop or self.save_due or (self.steps and steps >= self.steps):
            self.save(trainer)
        if self.stop:
            raise self._interruption(trainer)

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self.save(trainer)
        if any_rank(self.signals.received > 0)[0]:
            raise self._interruption(trainer)

    def teardown(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        self.signals.remove()

    def on_exception(
        self, trainer: Trainer, pl_module: LightningModule, exception: BaseException
    ) -> None:
        self.signals.remove()

    def _interruption(self, trainer: Trainer) -> InterruptedRunError:
        number = self.signals.received or signal.SIGTERM  # which another rank may have received
        return InterruptedRunError(
            f"stopped by {signal.Signals(number).name} after step {trainer.global_step}; the "
            f"state is saved. To continue: {self.how_to_resume}",
            number,
        )


class StepExchange(Callback):
    """Tells all ranks after each batch what any of them knows, in a single exchange.

    Ranks agree on whether to stop and whether to save, so none acts alone. As the first callback
    it also stops a run whose loss is not finite before that is logged or saved.
    """

    def __init__(self, checkpointing: Checkpointing) -> None:
        self.checkpointing = checkpointing

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        state = self.checkpointing
        loss = float(method_of(pl_module).last.loss.detach())
        finite = math.isfinite(loss)
        # Gradients are averaged, so one bad loss spoils the weights of all ranks.
        diverged, state.stop, state.save_due = any_rank(
            not finite, state.signals.received > 0, state.overdue
        )
        if diverged:
            what = "the loss is not finite on another device" if finite else f"the loss is {loss}"
            raise state.divergence(what, trainer.global_step)


def ends_epoch(trainer: Trainer, batch_idx: int) -> bool:
    """Whether a batch is the last of its epoch, which the last step of the run ends early."""
    last_step = 0 <= trainer.max_steps <= trainer.global_step
    return last_step or batch_idx + 1 >= trainer.num_training_batches


def after_step(trainer: Trainer, batch_idx: int) -> bool:
    """Whether the batch ended with an optimizer step, so that no gradient is half accumulated."""
    last = batch_idx + 1 == trainer.num_training_batches
    return last or (batch_idx + 1) % trainer.accumulate_grad_batches == 0


@contextmanager
def signals_restored() -> Iterator[None]:
    """Restore the signal handlers at the end of the block.

    Lightning puts its own handlers back after ours are gone, and they would swallow a SIGTERM.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class StopSignals:
    """Records the first signal, so that the current step can finish; a second ends the process."""

    def __init__(self) -> None:
        self.received = 0
        """Number of the signal, 0 for none."""
        self._previous: dict[int, Any] = {}

    def install(self) -> None:
        """Handle signals from now on; does nothing outside the main thread."""
        if threading.current_thread() is threading.main_thread():
            self._previous = {number: signal.signal(number, self._record) for number in _SIGNALS}

    def remove(self) -> None:
        """Put the previous handlers back."""
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._previous = {}

    def _record(self, number: int, frame: FrameType | None) -> None:
        if self.received:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        self.received = number
