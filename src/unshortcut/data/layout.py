"""Data sets in the folders in which they are published; one file in `layouts/` for each.

A folder is recognized by what it contains, or opened as `NAME:FOLDER`, which says what is missing
if it is not such a folder.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from unshortcut.data.source import ImageSource
from unshortcut.discovery import find_all
from unshortcut.errors import UsageError, unknown


class Layout(ABC):
    """A published data set in a folder of the user; nothing is downloaded."""

    name: ClassVar[str]
    """What it is called in `NAME:FOLDER`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @classmethod
    @abstractmethod
    def recognizes(cls, root: Path) -> bool:
        """Whether a folder is unmistakably this data set; looks at a few paths only."""

    @abstractmethod
    def splits(self) -> tuple[str, ...]:
        """The splits that exist; the first is the default."""

    @abstractmethod
    def images(self, split: str) -> ImageSource:
        """The images of one of the splits."""

    def open(self, split: str | None) -> ImageSource:
        """The images of a split, by default the first. Raises `UsageError`."""
        known = self.splits()
        if split is not None and split not in known:
            raise unknown(f"split of {self.root}", split, known)
        return self.images(split or known[0])

    def broken(self, reason: str) -> UsageError:
        """The error for a folder that is not of this layout."""
        return UsageError(f"{self.root} is not {self.name} as it is published: {reason}")

    def read_json(self, name: str, hook: Callable[[dict[str, Any]], Any] | None = None) -> Any:
        """The content of a JSON file; `hook` may replace each object as soon as it is read."""
        try:
            return json.loads(self.read_text(name), object_hook=hook)
        except (ValueError, RecursionError) as error:
            raise self.broken(f"{name} is not valid JSON: {error}") from None

    def read_text(self, name: str) -> str:
        """The content of a file of the data set, or an error that names it."""
        try:
            return (self.root / name).read_text(encoding="utf-8")
        except FileNotFoundError:
            raise self.broken(f"there is no file {name}") from None
        except (OSError, UnicodeDecodeError) as error:
            raise self.broken(f"{name} cannot be read: {error}") from None


def layouts() -> dict[str, type[Layout]]:
    """The layouts by name."""
    return find_all("unshortcut.data.layouts", Layout)  # type: ignore[type-abstract]


def recognized(root: Path) -> Layout | None:
    """The published data set in a folder, if it is one."""
    for layout in layouts().values():
        if layout.recognizes(root):
            return layout(root)
    return None
