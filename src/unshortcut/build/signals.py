"""Stop a run on SIGTERM or Ctrl-C, at any point: no half-written file can be left behind."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class StopSignal(BaseException):
    """Raised in the main thread when a signal arrives."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def stop_on_signals() -> Iterator[None]:
    """Let signals raise `StopSignal`; outside the main thread, handlers stay as they are."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {number: signal.signal(number, _stop) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _stop(number: int, frame: FrameType | None) -> None:
    raise StopSignal(number)
