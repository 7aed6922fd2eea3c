"""Loading recipes from YAML files, with inheritance (`extends`) and `key=value` changes."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml

from unshortcut.errors import UsageError, unknown
from unshortcut.parts import build
from unshortcut.plain_yaml import parse_set
from unshortcut.recipes.reading import inherit, read_recipe
from unshortcut.recipes.schema import Recipe

AnyRecipe = str | Path | Mapping[str, Any] | Recipe
"""The name of a recipe, the path of a YAML file, a mapping, or a `Recipe`."""


def load_recipe(recipe: AnyRecipe, sets: Iterable[str] = ()) -> Recipe:
    """Load and validate a recipe; `sets` are changes such as `schedule.epochs=20`."""
    sets = list(sets)
    if isinstance(recipe, Recipe):
        if not sets:
            return recipe
        recipe = to_mapping(recipe)
    if isinstance(recipe, Mapping):
        values, where = inherit(deepcopy(dict(recipe))), "recipe"
    else:
        values, where = read_recipe(recipe), f"recipe '{Path(recipe).name}'"
    for assignment in sets:
        values = assign(values, assignment)
    return build(Recipe, values, where)


def to_mapping(recipe: Recipe) -> dict[str, Any]:
    """The recipe as a mapping of plain values, with all defaults."""
    return recipe.model_dump(mode="json")


def to_yaml(recipe: Recipe) -> str:
    """The recipe as YAML, with all defaults."""
    return yaml.safe_dump(to_mapping(recipe), sort_keys=False, allow_unicode=True)


def assign(values: dict[str, Any], assignment: str) -> dict[str, Any]:
    """Apply `a.b.c=value`; an entry of a list is addressed by its index or by its name."""
    ((path, value),) = parse_set(assignment).items()
    *parents, last = path.split(".")
    node: Any = values
    for part in parents:
        if isinstance(node, dict):
            if node.get(part) is None:
                node[part] = {}
            node = node[part]
        else:
            node = _entry(node, part, path)
    if isinstance(node, list):
        node[node.index(_entry(node, last, path))] = value
    elif isinstance(node, dict):
        node[last] = value
    else:
        raise UsageError(f"--set {path}: there are no keys under '{'.'.join(parents)}'")
    return values


def _entry(node: Any, part: str, path: str) -> Any:
    if not isinstance(node, list):
        raise UsageError(f"--set {path}: '{part}' is not a key here")
    if part.isdigit() and int(part) < len(node):
        return node[int(part)]
    named = {e["name"]: e for e in node if isinstance(e, dict) and "name" in e}
    if part not in named:
        raise unknown(f"entry in --set {path}", part, named)
    return named[part]
