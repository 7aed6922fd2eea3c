"""Reading recipes as plain values, with inheritance (`extends`); nothing is validated here."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from unshortcut.errors import UsageError
from unshortcut.plain_yaml import PlainLoader
from unshortcut.recipes.catalog import recipe_path

MAX_BYTES = 1 << 20


def read_recipe(recipe: str | Path) -> dict[str, Any]:
    """The values that a recipe states, merged into those of the recipe that it extends."""
    return inherit(*_read(recipe))


def _read(recipe: str | Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    path = Path(recipe)
    if path.suffix in (".yaml", ".yml"):
        if not path.is_file():
            raise UsageError(f"there is no recipe file '{path}'")
        if path.stat().st_size > MAX_BYTES:
            raise UsageError(f"'{path}' is too large for a recipe")
        return _parse(path.read_text(encoding="utf-8", errors="replace"), str(path)), (str(path),)
    name = str(recipe)
    return _parse(recipe_path(name).read_text(encoding="utf-8"), name), (name,)


def _parse(text: str, where: str) -> dict[str, Any]:
    try:
        values = yaml.load(text, Loader=PlainLoader)
    except (yaml.YAMLError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise UsageError(f"recipe '{where}' is not plain YAML: {reason}") from None
    if not isinstance(values, dict):
        raise UsageError(f"recipe '{where}' must be a mapping of keys to values")
    return values


def inherit(values: dict[str, Any], chain: tuple[str, ...] = ()) -> dict[str, Any]:
    """The values of a recipe merged into those of the recipe that it extends, if any."""
    base = values.pop("extends", None)
    if base is None:
        return values
    if base in chain:
        raise UsageError(f"recipe '{chain[-1]}' extends itself through '{base}'")
    base_values, _ = _read(str(base))
    base_values.pop("paper", None)  # a row of a paper belongs to one recipe only
    return merge(inherit(base_values, (*chain, str(base))), values)


def merge(base: dict[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Merge mappings key by key; other values are replaced.

    A mapping that names another part replaces the old one, because the settings of one part mean
    nothing to another (`data` has a name and is no part). `spaces` are replaced as a whole.
    """
    merged = dict(base)
    for key, value in over.items():
        old = merged.get(key)
        merged[key] = value
        if isinstance(old, dict) and isinstance(value, dict) and key != "spaces":
            same = key == "data" or value.get("name", old.get("name")) == old.get("name")
            merged[key] = merge(old, value) if same else value
    return merged
