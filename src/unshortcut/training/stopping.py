"""Signals that stop a training run: SIGTERM and Ctrl-C."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


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
