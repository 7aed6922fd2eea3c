"""Recipes out of YAML files, with inheritance and single settings from the command line."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from unshortcut.errors import UsageError, unknown
from unshortcut.parts import build
from unshortcut.plain_yaml import PlainLoader, parse_set
from unshortcut.recipes.schema import Recipe
from unshortcut.renamed import unknown_recipe

MAX_BYTES = 1 << 20

AnyRecipe = str | Path | Mapping[str, Any] | Recipe
"""The name of a recipe, a YAML file, a mapping, or the recipe itself."""


def recipe_names() -> list[str]:
    """Names of the recipes that come with the package."""
    return sorted(
        entry.name.removesuffix(".yaml")
        for entry in files("unshortcut.recipes").iterdir()
        if entry.name.endswith(".yaml")
    )


def load_recipe(recipe: AnyRecipe, sets: Iterable[str] = ()) -> Recipe:
    """A validated recipe by name, from a YAML file or a mapping; `sets` are `key=value` changes."""
    sets = list(sets)
    if isinstance(recipe, Recipe):
        if not sets:
            return recipe
        recipe = to_mapping(recipe)
    if isinstance(recipe, Mapping):
        values, where = _inherit(deepcopy(dict(recipe)), ()), "recipe"
    else:
        values, where = read_recipe(recipe), f"recipe '{Path(recipe).name}'"
    for assignment in sets:
        values = _assign(values, assignment)
    return build(Recipe, values, where)


def read_recipe(recipe: str | Path) -> dict[str, Any]:
    """The values of a recipe as written, with what it extends merged in."""
    return _inherit(*_read(recipe))


def to_mapping(recipe: Recipe) -> dict[str, Any]:
    """The whole recipe as plain values, every default spelled out."""
    return recipe.model_dump(mode="json")


def to_yaml(recipe: Recipe) -> str:
    """The whole recipe as YAML, every default spelled out."""
    return yaml.safe_dump(to_mapping(recipe), sort_keys=False, allow_unicode=True)


def _read(recipe: str | Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    path = Path(recipe)
    if path.suffix in (".yaml", ".yml"):
        if not path.is_file():
            raise UsageError(f"there is no recipe file '{path}'")
        if path.stat().st_size > MAX_BYTES:
            raise UsageError(f"'{path}' is too large for a recipe")
        return _parse(path.read_text(encoding="utf-8", errors="replace"), str(path)), (str(path),)
    name = str(recipe)
    if name not in recipe_names():
        raise unknown_recipe(name, recipe_names())
    text = files("unshortcut.recipes").joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    return _parse(text, name), (name,)


def _parse(text: str, where: str) -> dict[str, Any]:
    try:
        values = yaml.load(text, Loader=PlainLoader)
    except (yaml.YAMLError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise UsageError(f"recipe '{where}' is not plain YAML: {reason}") from None
    if not isinstance(values, dict):
        raise UsageError(f"recipe '{where}' must be a mapping of keys to values")
    return values


def _inherit(values: dict[str, Any], chain: tuple[str, ...]) -> dict[str, Any]:
    base = values.pop("extends", None)
    if base is None:
        return values
    if base in chain:
        raise UsageError(f"recipe '{chain[-1]}' extends itself through '{base}'")
    base_values, _ = _read(str(base))
    base_values.pop("paper", None)  # a row of a paper is one recipe's alone
    return _merge(_inherit(base_values, (*chain, str(base))), values)


def _merge(base: dict[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Mappings are merged key by key, unless they name another part; all else is replaced.

    The settings of one part mean nothing to another; data are no part, only named. The spaces of a
    method are replaced as a whole: who names some wants no others.
    """
    merged = dict(base)
    for key, value in over.items():
        old = merged.get(key)
        merged[key] = value
        if isinstance(old, dict) and isinstance(value, dict) and key != "spaces":
            same = key == "data" or value.get("name", old.get("name")) == old.get("name")
            merged[key] = _merge(old, value) if same else value
    return merged


def _assign(values: dict[str, Any], assignment: str) -> dict[str, Any]:
    """`a.b.c=value`; an entry of a list is named by its position or by its own name."""
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
