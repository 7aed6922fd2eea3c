"""Keys of trainings: a digest of everything that the weights depend on.

Settings at their default are left out of the key, so a new setting whose default changes nothing
keeps all keys. If a default itself changes, `require_same` notices it, because a run folder holds
the recipe with all of its settings.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from pydantic import BaseModel

from unshortcut.data.class_files import read_hierarchy
from unshortcut.data.copies import with_filtered_copy
from unshortcut.data.open import open_data
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.recipes.load import load_recipe, read_recipe, to_mapping
from unshortcut.recipes.schema import Recipe, ResolvedPhase
from unshortcut.training.folder import RunFolder
from unshortcut.training.initial_weights import load_initial
from unshortcut.training.objects import with_proposals
from unshortcut.training.plan_copies import plan_copies
from unshortcut.training.resume import HARMLESS, differences, resolved_mapping

_VERSION = 1  # raised when the same recipe and data would give other weights


def training_key(
    recipe: Recipe, source: ImageSource, proposals: Mapping[str, Any] | None = None
) -> str:
    """16 hex digits that identify everything that the weights of a training depend on.

    Keys of the recipe that do not change the weights are left out, and so is the location of the
    data; their content counts, and that of the copies that are used with them. Of weights to start
    from, both name and content count; of boxes that are still to be proposed, how
    (`ProposalStep.identity`).
    """
    phases = [
        # The name is that of the folder of the phase, which belongs to the stored run.
        [one.phase.name, one.continues, *_content(one.recipe, _source(one, source))]
        for one in recipe.resolved_phases()
    ]
    content = phases or _content(recipe, source)
    if proposals is not None:
        content = [*content, {"proposals": dict(proposals)}]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def _content(recipe: Recipe, source: ImageSource) -> list[Any]:
    """What the weights of a training without phases depend on."""
    recipe = without_absent(recipe)
    filtered, noise = recipe.data.filtered_copy, recipe.data.label_noise
    data = with_proposals(recipe, source)
    data = data if filtered is None else with_filtered_copy(data, filtered)
    copies = plan_copies(recipe.view_plan()).fingerprints()
    content = [_VERSION, stated_settings(recipe), data.fingerprint(), copies]
    if noise is not None and noise.hierarchy is not None:
        content.append(read_hierarchy(noise.hierarchy))
    return content if recipe.init is None else [*content, load_initial(recipe.init).fingerprint]


def _source(phase: ResolvedPhase, source: ImageSource) -> ImageSource:
    name = phase.recipe.data.name
    return open_data(name) if phase.phase.states_data and name is not None else source


def without_absent(recipe: Recipe) -> Recipe:
    """The recipe without the last sources of negatives whose weight is always 0.

    They are never built, so a recipe with alpha 0 is the training of the recipe without them. Ones
    before other sources stay: the seed of a source depends on its place.
    """
    sources = list(getattr(recipe.method, "negatives", ()))
    while sources and sources[-1].absent:
        sources.pop()
    if len(sources) == len(getattr(recipe.method, "negatives", ())):
        return recipe
    values = to_mapping(recipe)
    values["method"]["negatives"] = values["method"]["negatives"][: len(sources)]
    return load_recipe(values)


def require_same(run: RunFolder, recipe: Recipe) -> None:
    """Raise `UsageError` if the stored run was trained with another recipe than this."""
    stored = load_recipe(read_recipe(run.recipe))
    changed = differences(resolved_mapping(stored), resolved_mapping(recipe))
    if changed:
        key, (old, new) = next(iter(changed.items()))
        raise UsageError(
            f"the training '{run.path.parent.name}' was made when the default of '{key}' was "
            f"{old!r}, not {new!r}; remove its folder to train again: {run.path.parent}"
        )


def stated_settings(value: Any, path: str = "") -> Any:
    """The settings of a recipe, protocol or part that are not at their default, as plain values.

    Keys that do not change the weights are left out.
    """
    if isinstance(value, BaseModel) or is_dataclass(value):
        stated = {"name": value.name} if is_dataclass(value) and hasattr(value, "name") else {}
        for key, setting, default in _settings(value):
            full_key = f"{path}{key}"
            if full_key not in HARMLESS and setting != default:
                stated[key] = stated_settings(setting, f"{full_key}.")
        return stated
    if isinstance(value, Mapping):
        return {str(key): stated_settings(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [stated_settings(entry) for entry in value]
    return value


def _settings(value: Any) -> Iterator[tuple[str, Any, Any]]:
    """The name, value and default of each setting."""
    if isinstance(value, BaseModel):
        for name, info in type(value).model_fields.items():
            yield name, getattr(value, name), info.get_default(call_default_factory=True)
        return
    for field in fields(value):
        factory = field.default_factory
        default = field.default if factory is MISSING else factory()
        yield field.name, getattr(value, field.name), default
