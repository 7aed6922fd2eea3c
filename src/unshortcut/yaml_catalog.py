"""Named YAML files that come with the package, in folders that are their groups.

Listing reads YAML and imports nothing else, so that commands that list answer at once.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Entry:
    """A file of a catalog: its name, its group (the folder) and one line on what it is for."""

    name: str
    group: str
    summary: str


@dataclass
class Catalog:
    """The files `GROUP/NAME.yaml` below a folder."""

    folder: Path
    groups: Mapping[str, str]
    """Folders and the titles of their groups, in the order of the listing; others follow."""
    left_out: Collection[str] = field(default_factory=tuple)
    """Folders that contain something else."""

    @cached_property
    def paths(self) -> dict[str, Path]:
        """The files by name."""
        files = self.folder.glob("*/*.yaml")
        return {path.stem: path for path in files if path.parent.name not in self.left_out}

    def names(self, pattern: str = "*") -> list[str]:
        """The names that match a pattern, sorted."""
        return sorted(name for name in self.paths if fnmatchcase(name, pattern))

    def entries(self, pattern: str = "*") -> Iterator[Entry]:
        """Files that match a pattern, group by group, with their summaries."""
        folders = {name: self.paths[name].parent.name for name in self.names(pattern)}
        order = [*self.groups, *sorted(set(folders.values()) - set(self.groups))]
        for name in sorted(folders, key=lambda name: (order.index(folders[name]), name)):
            yield Entry(name, folders[name], self.values(name).get("summary", ""))

    def values(self, name: str) -> dict[str, Any]:
        """What a file states, as plain values."""
        text = self.paths[name].read_text(encoding="utf-8")
        return dict(yaml.load(text, Loader=_Loader))
