"""The recipes that come with the package: names, groups and summaries."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unshortcut.renamed import unknown_recipe
from unshortcut.yaml_catalog import Catalog, Entry

GROUPS = {
    "shapes": "Embedded shapes: minutes on two cores, nothing to download",
    "imagenette": "Imagenette: half an hour on two cores",
    "cifar10": "CIFAR-10",
    "cifar100": "CIFAR-100",
    "stl10": "STL-10",
    "imagenet100": "ImageNet-100: Ge et al. 2021, negatives with diminished semantics",
    "looc": "ImageNet-100: Xiao et al. 2020, leave-one-out contrastive learning (LooC)",
    "imagenet": "ImageNet-1K",
    "multi_object": "Photographs of several objects: COCO, OpenImages",
}
"""Folder of the recipes and title of the group, in the order of the listing."""

PAPERS = "papers"
"""The folder with the tables of the papers, which are no recipes (`paper_files.py`)."""

_CATALOG = Catalog(Path(__file__).parent, GROUPS, left_out=(PAPERS,))


def list_recipes(pattern: str = "*") -> list[str]:
    """List the names of the recipes that match a pattern such as `moco-v2-*`."""
    return _CATALOG.names(pattern)


def recipe_infos(pattern: str = "*") -> Iterator[Entry]:
    """Recipes that match a pattern, group by group, with their summaries."""
    return _CATALOG.entries(pattern)


def paper_of(name: str) -> dict[str, Any]:
    """The row of a paper that a recipe reproduces, as plain values; empty without one."""
    recipe_path(name)
    return dict(_CATALOG.values(name).get("paper") or {})


def recipe_path(name: str) -> Path:
    """The file of a recipe, or a `UsageError` that gives the nearest names."""
    if name not in _CATALOG.paths:
        raise unknown_recipe(name, _CATALOG.paths)
    return _CATALOG.paths[name]
