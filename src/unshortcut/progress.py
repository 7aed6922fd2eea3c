"""Progress bars and durations."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

OnProgress = Callable[[int, int], None]
"""Called with (done, total)."""


def part_of(on_progress: OnProgress, number: int, count: int) -> OnProgress:
    """Report one of `count` equal parts of the work, numbered from 0, as progress of the whole.

    >>> part_of(print, 2, 5)(3, 10)
    23 50
    """
    return lambda done, total: on_progress(number * total + done, count * total)


def within(on_progress: OnProgress, before: int, total: int) -> OnProgress:
    """Report a part of the work as progress of the whole, after `before` of `total` were done.

    >>> within(print, 20, 50)(3, 10)
    23 50
    """
    return lambda done, _: on_progress(before + done, total)


def duration(seconds: float) -> str:
    """Format a duration: `0.4 s`, `12 s`, `3 min 20 s`."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


@contextmanager
def bar(
    console: Console, label: str, *, visible: bool = True, unit: str | None = None
) -> Iterator[OnProgress]:
    """Show a progress bar; yields a function of (done, total). Without a terminal nothing is shown.

    With a `unit`, such as `images`, the bar also shows how many of them are done per second.
    """
    progress = Progress(
        TextColumn(label),
        BarColumn(),
        MofNCompleteColumn(),
        *([] if unit is None else [_Rate(unit)]),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=console,
        disable=not visible or not console.is_terminal,
        refresh_per_second=4,
    )
    task = progress.add_task(label, total=None)
    with progress:
        yield lambda done, total: progress.update(task, completed=done, total=total)


class _Rate(ProgressColumn):
    """`85.2 images/s`: the current speed, and the mean speed once finished."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self.unit = unit

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        rate = "" if speed is None else f"{speed:.1f} {self.unit}/s"
        return Text(rate, style="progress.data.speed")
