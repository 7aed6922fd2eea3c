"""The steps of the demo with the time that is left."""

import time
from collections.abc import Mapping

from rich.console import Console

from unshortcut.progress import duration


class Clock:
    """Announces each step with the time that is left.

    Args:
        steps: the seconds of each step on two cores. The speed of this machine is known from the
            steps that are done.
    """

    def __init__(self, steps: Mapping[str, float], console: Console) -> None:
        self.steps = dict(steps)
        self.console = console
        self.started = time.monotonic()
        self._done: list[str] = []
        self._current: str | None = None

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    def begin(self, step: str) -> None:
        """End the step before, and announce this one."""
        if self._current is not None:
            self._done.append(self._current)
        self._current = step
        number = len(self._done) + 1
        self.console.print(
            f"[b]{number} of {len(self.steps)}: {step}[/] ({_about(self.left())} left)",
            highlight=False,
        )

    def part(self, name: str, share: float) -> None:
        """Announce a part of the current step, of which a share is done."""
        self.console.print(f"  {name} ({_about(self.left(share))} left)", highlight=False)

    def left(self, share: float = 0.0) -> float:
        """Seconds that are left, at the speed so far; a share of the current step is done."""
        expected = sum(self.steps[step] for step in self._done)
        if self._current is not None:
            expected += share * self.steps[self._current]
        speed = self.elapsed / expected if expected else 1.0
        return speed * (sum(self.steps.values()) - expected)


def _about(seconds: float) -> str:
    """A rough duration, in steps of five seconds."""
    return f"about {duration(max(5, 5 * round(seconds / 5)))}"
