"""Which training is which: a key of all that its weights depend on, the same for years.

A setting that is at its default does not count, so a setting that the project gains later, with
a default under which all stays as it was, changes no key. Should a default itself change, then
`require_same` sees it: a run folder has every setting of its recipe spelled out.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from pydantic import BaseModel

from unshortcut.data.copies import with_filtered_copy
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.recipes.load import load_recipe, read_recipe, to_mapping
from unshortcut.recipes.schema import Recipe
from unshortcut.training.folder import RunFolder
from unshortcut.training.plan_copies import plan_copies
from unshortcut.training.resume import HARMLESS, differences

_VERSION = 1  # raised when the same recipe and data would give other weights


def training_key(recipe: Recipe, source: ImageSource) -> str:
    """16 hex digits of everything that a training's weights depend on.

    Keys of a recipe that change no weights do not count, nor does where the data lie: their
    content does, and that of the copies that are trained on beside them.
    """
    filtered = recipe.data.filtered_copy
    data = source if filtered is None else with_filtered_copy(source, filtered)
    copies = plan_copies(recipe.view_plan()).fingerprints()
    content = [_VERSION, _said(recipe), data.fingerprint(), copies]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def require_same(run: RunFolder, recipe: Recipe) -> None:
    """Refuse a run under the key of a recipe that is another recipe's."""
    changed = differences(to_mapping(load_recipe(read_recipe(run.recipe))), to_mapping(recipe))
    if changed:
        key, (old, new) = next(iter(changed.items()))
        raise UsageError(
            f"the kept training '{run.path.parent.name}' was made when the default of '{key}' was "
            f"{old!r}, not {new!r}; remove its folder to train again: {run.path.parent}"
        )


def _said(value: Any, path: str = "") -> Any:
    """What a recipe or a part of it says besides the defaults, as plain values."""
    if isinstance(value, BaseModel) or is_dataclass(value):
        said = {"name": value.name} if is_dataclass(value) and hasattr(value, "name") else {}
        for key, setting, default in _settings(value):
            place = f"{path}{key}"
            if place not in HARMLESS and setting != default:
                said[key] = _said(setting, f"{place}.")
        return said
    if isinstance(value, Mapping):
        return {str(key): _said(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_said(entry) for entry in value]
    return value


def _settings(value: Any) -> Iterator[tuple[str, Any, Any]]:
    """Name, value and default of each setting."""
    if isinstance(value, BaseModel):
        for name, info in type(value).model_fields.items():
            yield name, getattr(value, name), info.get_default(call_default_factory=True)
        return
    for field in fields(value):
        factory = field.default_factory
        default = field.default if factory is MISSING else factory()
        yield field.name, getattr(value, field.name), default
