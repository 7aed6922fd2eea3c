"""What an audit prints on its way: warnings, what is next and for how long, and what it came to."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from unshortcut.auditing.findings import Entry
from unshortcut.auditing.forecast import Expected
from unshortcut.progress import duration
from unshortcut.result import public_text


class AuditLog:
    """Prints progress to a console and collects warnings."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.collected: list[str] = []

    def print(self, text: str) -> None:
        self.console.print(text, highlight=False)

    def total(self, expected: Expected) -> None:
        """Print what all measurements of a model will cost, unless nothing is left to do."""
        if expected.passes:
            self.print(f"  {expected.passes:,} forward passes, {_about(expected.seconds)}")

    def start(self, title: str, expected: Expected | None, left: Expected) -> None:
        """Print what a measurement will cost, and what is left in all."""
        if expected is not None and expected.passes:
            cost = f"{expected.passes:,} passes, {_about(expected.seconds)}"
            self.print(f"  {title}: {cost}; {_about(left.seconds)} left in all")

    def entry(self, title: str, entry: Entry) -> None:
        """Print how a measurement ended; a terminal has shown a progress bar if it was made."""
        if entry.status != "done":
            color = "red" if entry.status == "failed" else "yellow"
            self.print(f"  {title}: [{color}]{entry.status}[/]: {escape(entry.reason)}")
        elif entry.cached:
            self.print(f"  {title}: cached")
        elif not self.console.is_terminal:
            self.print(f"  {title}: {entry.seconds:.1f} s")

    @contextmanager
    def warnings(self) -> Iterator[None]:
        """Collect the warnings of this package, each once; those of libraries are dropped."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for one in caught:
            text = public_text(str(one.message))
            ours = Path(one.filename).is_relative_to(Path(__file__).parents[1])
            if ours and issubclass(one.category, UserWarning) and text not in self.collected:
                self.collected.append(text)
                self.print(f"  [yellow]warning[/]: {escape(text)}")


def _about(seconds: float) -> str:
    return f"about {duration(seconds)}" if seconds >= 1 else "less than a second"
