"""SIGTERM and Ctrl-C: finish the step, write a checkpoint, say how to go on."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from lightning.pytorch import Callback, LightningModule, Trainer

from unshortcut.distributed import any_rank
from unshortcut.errors import InterruptedRunError
from unshortcut.training.checkpoint import Checkpointing, within_epoch

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def signals_restored() -> Iterator[None]:
    """Whoever trains in the block, signals mean afterwards what they meant before.

    Lightning puts its own handler back when it ends after ours; it would swallow a SIGTERM.
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


class StopGracefully(Callback):
    """Stops between two steps after a signal on any rank; a second signal stops at once."""

    def __init__(self, checkpointing: Checkpointing, how_to_resume: str) -> None:
        self.checkpointing = checkpointing
        self.how_to_resume = how_to_resume
        self.received: int = 0
        self._previous: dict[int, Any] = {}

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        # Lightning has set its own by now, which raise in the middle of a step.
        if threading.current_thread() is threading.main_thread():
            self._previous = {number: signal.signal(number, self._note) for number in _SIGNALS}

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        if within_epoch(trainer, batch_idx):
            self._stop_if_asked(trainer)

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._stop_if_asked(trainer)

    def _stop_if_asked(self, trainer: Trainer) -> None:
        if not any_rank(self.received > 0):
            return
        self.checkpointing.save(trainer)
        number = self.received or signal.SIGTERM
        raise InterruptedRunError(
            f"stopped by {signal.Signals(number).name} after step {trainer.global_step}; the "
            f"state is saved. Go on with: {self.how_to_resume}",
            number,
        )

    def teardown(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._previous = {}

    def on_exception(
        self, trainer: Trainer, pl_module: LightningModule, exception: BaseException
    ) -> None:
        self.teardown(trainer, pl_module, "fit")

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.received:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        self.received = number
