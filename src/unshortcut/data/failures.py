"""Images and annotations that could not be used, each listed once with the reason."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from unshortcut.files import write_text


class Failure(NamedTuple):
    """A bad image: its identity, and why it was skipped."""

    identity: str
    reason: str


class FailureLog:
    """The list of skipped images in a run folder, one JSON object per line.

    Existing entries are read first, so that a resumed run lists nothing twice. The file is
    created with the first failure.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._failures: dict[Failure, None] = {}
        if self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                self._failures[Failure(**json.loads(line))] = None

    def __len__(self) -> int:
        return len(self._failures)

    def __iter__(self) -> Iterator[Failure]:
        return iter(self._failures)

    def add(self, failures: Iterable[tuple[str, str]]) -> list[Failure]:
        """Add (identity, reason) pairs; returns those that were not listed before."""
        found = dict.fromkeys(Failure(*one) for one in failures)
        new = {failure: None for failure in found if failure not in self._failures}
        if new:
            self._failures |= new
            # The whole file is rewritten, so that no line is ever cut off; late failures are few.
            entries = (json.dumps(entry._asdict(), ensure_ascii=False) for entry in self)
            write_text(self.path, "".join(f"{entry}\n" for entry in entries))
        return list(new)
