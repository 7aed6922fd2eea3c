"""The protocols that come with the package: names, groups and summaries."""

from collections.abc import Iterator
from pathlib import Path

from unshortcut.errors import unknown
from unshortcut.yaml_catalog import Catalog, Entry

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

_CATALOG = Catalog(Path(__file__).parent / "protocols", GROUPS)


def list_protocols(pattern: str = "*") -> list[str]:
    """List the names of the protocols of fine-tuning that match a pattern such as `voc*`."""
    return _CATALOG.names(pattern)


def protocol_infos(pattern: str = "*") -> Iterator[Entry]:
    """Protocols that match a pattern, group by group, with their summaries."""
    return _CATALOG.entries(pattern)


def protocol_path(name: str) -> Path:
    """The file of a protocol, or a `UsageError` that gives the nearest names."""
    if name not in _CATALOG.paths:
        raise unknown("protocol", name, _CATALOG.paths)
    return _CATALOG.paths[name]
