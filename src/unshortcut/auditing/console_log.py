"""What an audit says on the console while it measures, and the warnings that it keeps."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from unshortcut.auditing.findings import Entry
from unshortcut.result import public_text


class Telling:
    """What is said on the console, and the warnings on the way."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.warned: list[str] = []

    def say(self, text: str) -> None:
        self.console.print(text, highlight=False)

    def entry(self, title: str, entry: Entry) -> None:
        """A line on a measurement; on a terminal what was measured has had a bar."""
        if entry.status != "done":
            color = "red" if entry.status == "failed" else "yellow"
            self.say(f"  {title}: [{color}]{entry.status}[/]: {escape(entry.reason)}")
        elif entry.cached:
            self.say(f"  {title}: known already")
        elif not self.console.is_terminal:
            self.say(f"  {title}: {entry.seconds:.1f} s")

    @contextmanager
    def warnings(self) -> Iterator[None]:
        """Keep our own warnings, each once; what libraries say to programmers is left out."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for one in caught:
            said = public_text(str(one.message))
            if issubclass(one.category, UserWarning) and _is_ours(one) and said not in self.warned:
                self.warned.append(said)
                self.say(f"  [yellow]warning[/]: {escape(said)}")


def _is_ours(warning: warnings.WarningMessage) -> bool:
    return Path(warning.filename).is_relative_to(Path(__file__).parents[1])
