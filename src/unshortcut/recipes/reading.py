"""Reading recipes as plain values, with inheritance (`extends`); nothing is validated here."""

from collections.abc import Callable, Mapping
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
    path, name = Path(recipe), str(recipe)
    if path.suffix in (".yaml", ".yml"):
        return parse_file(path, "recipe"), (name,)
    return _parse(recipe_path(name).read_text(encoding="utf-8"), f"recipe '{name}'"), (name,)


def parse_file(path: Path, kind: str) -> dict[str, Any]:
    """The values of a plain YAML file; `kind` is what the file is called in errors."""
    if not path.is_file():
        raise UsageError(f"there is no {kind} file '{path}'")
    if path.stat().st_size > MAX_BYTES:
        raise UsageError(f"'{path}' is too large for a {kind}")
    return _parse(path.read_text(encoding="utf-8", errors="replace"), f"{kind} '{path}'")


def _parse(text: str, what: str) -> dict[str, Any]:
    try:
        values = yaml.load(text, Loader=PlainLoader)
    except (yaml.YAMLError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise UsageError(f"{what} is not plain YAML: {reason}") from None
    if not isinstance(values, dict):
        raise UsageError(f"{what} must be a mapping of keys to values")
    return values


Read = Callable[[str], tuple[dict[str, Any], tuple[str, ...]]]
"""From a name or file to its values, and to the names that lead there."""


def inherit(
    values: dict[str, Any], chain: tuple[str, ...] = (), *, read: Read = _read
) -> dict[str, Any]:
    """The values of a recipe merged into those of the recipe that it extends, if any.

    read: reads what is extended; by default recipes.
    """
    base = values.pop("extends", None)
    if base is None:
        return values
    if base in chain:
        raise UsageError(f"recipe '{chain[-1]}' extends itself through '{base}'")
    base_values, _ = read(str(base))
    base_values.pop("paper", None)  # a row of a paper belongs to one recipe only
    return merge(inherit(base_values, (*chain, str(base)), read=read), values)


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
