"""The protocols that come with the package: names, groups and summaries.

Listing reads YAML and imports nothing else, so that `unshortcut protocols` answers at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from unshortcut.errors import unknown

GROUPS = {
    "default": "Your own images: the default of each task",
    "shapes": "Drawings of `shapes`: minutes on two cores, nothing to download",
    "pets": "Oxford-IIIT Pets: minutes on two cores",
    "classification": "Classification",
    "multilabel": "Multi-label classification",
    "detection": "Detection",
    "segmentation": "Segmentation",
}
"""Folder of the protocols and title of the group, in the order of the listing."""

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class ProtocolInfo:
    """A protocol of the package: its name, its group (the folder) and one line on what it is."""

    name: str
    group: str
    summary: str


def list_protocols(pattern: str = "*") -> list[str]:
    """List the names of the protocols of fine-tuning that match a pattern such as `voc*`."""
    return sorted(name for name in _paths() if fnmatchcase(name, pattern))


def protocol_infos(pattern: str = "*") -> Iterator[ProtocolInfo]:
    """Protocols that match a pattern, group by group, with their summaries."""
    order = list(GROUPS)
    folders = {name: _paths()[name].parent.name for name in list_protocols(pattern)}
    for name in sorted(folders, key=lambda name: (order.index(folders[name]), name)):
        values = yaml.load(_paths()[name].read_text(encoding="utf-8"), Loader=_Loader)
        yield ProtocolInfo(name, folders[name], values.get("summary", ""))


def protocol_path(name: str) -> Path:
    """The file of a protocol, or a `UsageError` that gives the nearest names."""
    if name not in _paths():
        raise unknown("protocol", name, _paths())
    return _paths()[name]


@cache
def _paths() -> dict[str, Path]:
    folder = Path(__file__).parent / "protocols"
    return {path.stem: path for path in folder.glob("*/*.yaml")}
