"""Resuming: the recipe and the data must be the same, except for harmless settings."""

from typing import Any

from unshortcut.errors import UsageError

HARMLESS = {
    *("summary", "paper", "data.name", "data.filtered_copy", "data.workers"),
    *("training.checkpoint_minutes", "training.checkpoint_steps"),
    *("training.log_steps", "training.knn_epochs", "training.gradient_checkpointing"),
}
"""Keys that do not change the weights; data are compared by content, not by path."""
ROUNDING = ("training.compile", "training.channels_last")
"""Keys that change the weights in rounding only: a resumed run may differ in them, and warns."""


def differences(old: Any, new: Any, path: str = "") -> dict[str, tuple[Any, Any]]:
    """Keys in which two plain documents differ, with both values, except harmless keys."""
    if path in HARMLESS or old == new:
        return {}
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        old, new = dict(enumerate(old)), dict(enumerate(new))
    if not isinstance(old, dict) or not isinstance(new, dict):
        return {path: (old, new)}
    found: dict[str, tuple[Any, Any]] = {}
    for key in old | new:
        found |= differences(old.get(key), new.get(key), f"{path}.{key}" if path else str(key))
    return found


def require_same_run(
    old_recipe: dict[str, Any], new_recipe: dict[str, Any], old_data: str, new_data: str
) -> dict[str, tuple[Any, Any]]:
    """Raise `UsageError` with the difference if the recipe or the data have changed.

    Returns the keys that differ and change the weights in rounding only, with both values.
    """
    changed = differences(old_recipe, new_recipe)
    rounding = {key: changed.pop(key) for key in ROUNDING if key in changed}
    if changed:
        lines = "\n".join(f"  {key}: {old!r} -> {new!r}" for key, (old, new) in changed.items())
        raise UsageError(f"the recipe differs from that of the run to resume:\n{lines}")
    if old_data != new_data:
        raise UsageError(
            "the data differ from those of the run to resume: their content has changed"
        )
    return rounding
