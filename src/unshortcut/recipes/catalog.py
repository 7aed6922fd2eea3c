"""The recipes that come with the package: names, groups and summaries.

Listing reads YAML and imports nothing else, so that `unshortcut recipes` answers at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from unshortcut.renamed import unknown_recipe

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

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class RecipeInfo:
    """A recipe of the package: its name, its group (the folder) and one line on what it is for."""

    name: str
    group: str
    summary: str


def list_recipes(pattern: str = "*") -> list[str]:
    """List the names of the recipes that match a pattern such as `moco-v2-*`."""
    return sorted(name for name in _paths() if fnmatchcase(name, pattern))


def recipe_infos(pattern: str = "*") -> Iterator[RecipeInfo]:
    """Recipes that match a pattern, group by group, with their summaries."""
    order = list(GROUPS)
    names = list_recipes(pattern)
    folders = {name: _paths()[name].parent.name for name in names}
    known = [*order, *sorted(set(folders.values()) - set(order))]
    for name in sorted(names, key=lambda name: known.index(folders[name])):
        values = yaml.load(_paths()[name].read_text(encoding="utf-8"), Loader=_Loader)
        yield RecipeInfo(name, folders[name], values.get("summary", ""))


def paper_of(name: str) -> dict[str, Any]:
    """The row of a paper that a recipe reproduces, as plain values; empty without one."""
    values = yaml.load(recipe_path(name).read_text(encoding="utf-8"), Loader=_Loader)
    return dict(values.get("paper") or {})


def recipe_path(name: str) -> Path:
    """The file of a recipe, or a `UsageError` that gives the nearest names."""
    if name not in _paths():
        raise unknown_recipe(name, _paths())
    return _paths()[name]


@cache
def _paths() -> dict[str, Path]:
    files = Path(__file__).parent.glob("*/*.yaml")
    return {path.stem: path for path in files if path.parent.name != PAPERS}
