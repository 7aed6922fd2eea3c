"""Progress bars for work that is counted."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

OnProgress = Callable[[int, int], None]


@contextmanager
def bar(console: Console, label: str, *, visible: bool = True) -> Iterator[OnProgress]:
    """A bar that is told (done, total); nothing is drawn where there is no terminal."""
    progress = Progress(
        TextColumn(label),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=console,
        disable=not visible or not console.is_terminal,
        refresh_per_second=4,
    )
    task = progress.add_task(label, total=None)
    with progress:
        yield lambda done, total: progress.update(task, completed=done, total=total)
