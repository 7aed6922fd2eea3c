"""Resuming: the run must be the same run; what changed is shown, and harmless changes pass."""

from typing import Any

from unshortcut.errors import UsageError

HARMLESS = frozenset(
    {
        "summary",
        "paper",
        "data.name",
        "data.double",
        "data.workers",
        "training.checkpoint_minutes",
        "training.checkpoint_steps",
        "training.log_steps",
        "training.knn_epochs",
    }
)
"""Keys that change neither weights nor order: where data lie is checked by their content."""


def differences(old: Any, new: Any, path: str = "") -> dict[str, tuple[Any, Any]]:
    """Keys in which two plain documents differ, with both values, harmless ones left out."""
    if path in HARMLESS or old == new:
        return {}
    if isinstance(old, dict) and isinstance(new, dict):
        found: dict[str, tuple[Any, Any]] = {}
        for key in old | new:
            below = f"{path}.{key}" if path else str(key)
            found |= differences(old.get(key), new.get(key), below)
        return found
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        found = {}
        for number, (before, after) in enumerate(zip(old, new, strict=True)):
            found |= differences(before, after, f"{path}.{number}")
        return found
    return {path: (old, new)}


def require_same_run(
    old_recipe: dict[str, Any], new_recipe: dict[str, Any], old_data: str, new_data: str
) -> None:
    """Refuse to resume with another recipe or other data; the difference is shown."""
    changed = differences(old_recipe, new_recipe)
    if changed:
        lines = "\n".join(f"  {key}: {old!r} -> {new!r}" for key, (old, new) in changed.items())
        raise UsageError(f"the recipe is not the one of the run to resume:\n{lines}")
    if old_data != new_data:
        raise UsageError("the data are not those of the run to resume: their content has changed")
