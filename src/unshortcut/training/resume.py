"""Resuming: the recipe and the data must be the same, except for harmless settings."""

import re
from typing import Any

from rich.console import Console

from unshortcut.errors import UsageError
from unshortcut.recipes.load import load_recipe, read_recipe, to_mapping
from unshortcut.recipes.schema import Recipe
from unshortcut.training.folder import RunFolder

HARMLESS = {
    *("summary", "paper", "data.name", "data.filtered_copy", "data.workers"),
    "data.proposals",
    *("training.checkpoint_minutes", "training.checkpoint_steps"),
    *("training.log_steps", "training.knn_epochs", "training.gradient_checkpointing"),
}
"""Keys that do not change the weights; data are compared by content, not by path."""
ROUNDING = ("training.compile", "training.channels_last")
"""Keys that change the weights in rounding only: a resumed run may differ in them, and warns."""
_PHASE = re.compile(r"^phases\.\d+\.")


def differences(old: Any, new: Any, path: str = "") -> dict[str, tuple[Any, Any]]:
    """Keys in which two plain documents differ, with both values, except harmless keys."""
    if _PHASE.sub("", path) in HARMLESS or old == new:
        return {}
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        old, new = dict(enumerate(old)), dict(enumerate(new))
    if not isinstance(old, dict) or not isinstance(new, dict):
        return {path: (old, new)}
    found: dict[str, tuple[Any, Any]] = {}
    for key in old | new:
        found |= differences(old.get(key), new.get(key), f"{path}.{key}" if path else str(key))
    return found


def resolved_mapping(recipe: Recipe) -> dict[str, Any]:
    """The plain values that decide a training: of the recipe, or of each of its phases."""
    if not recipe.phases:
        return to_mapping(recipe)
    return {
        "phases": [
            {"name": one.phase.name, "continues": one.continues, **to_mapping(one.recipe)}
            for one in recipe.resolved_phases()
        ]
    }


def check_resumed(
    folder: RunFolder, recipe: Recipe, metadata: dict[str, Any], console: Console
) -> None:
    """Raise `UsageError` unless the run in the folder is the same; warn of other hardware."""
    stored = resolved_mapping(load_recipe(read_recipe(folder.recipe)))
    check_same_run(folder, stored, resolved_mapping(recipe), metadata, console)


def check_same_run(
    folder: RunFolder,
    stored: dict[str, Any],
    settings: dict[str, Any],
    metadata: dict[str, Any],
    console: Console,
    what: str = "recipe",
) -> None:
    """Raise `UsageError` unless settings, as plain values, and data are those of the folder's run.

    Warns of other hardware. `what` is the name of the settings in the message.
    """
    before = folder.read_metadata()
    rounding = _require_same_settings(stored, settings, what)
    if before.get("data_fingerprint") != metadata.get("data_fingerprint"):
        raise UsageError(
            "the data differ from those of the run to resume: their content has changed"
        )
    contents = before.get("data_fingerprints", {})
    for phase, content in metadata.get("data_fingerprints", {}).items():
        if contents.get(phase) != content:
            raise UsageError(
                f"the data of '{phase}' differ from those of the run to resume: their content has "
                "changed"
            )
    trainings = [RunFolder(folder.path / phase) for phase in metadata.get("phases", ())]
    begun = folder.checkpoint.exists() or any(one.metadata.is_file() for one in trainings)
    if before.get("init") != metadata.get("init") and not begun:
        raise UsageError(
            f"the run to resume was started with --init {before.get('init')}; give it again"
        )
    hardware = {key: (before[key], metadata[key]) for key in ("devices", "threads")}
    for key, (old, new) in (hardware | rounding).items():
        if old != new:
            console.print(
                f"[yellow]the run had {key} {old} and now has {new}: "
                "the result will differ in rounding[/]"
            )
    if not begun and "phases" not in metadata:
        console.print("the run has no checkpoint yet; it starts from the beginning")


def _require_same_settings(
    old: dict[str, Any], new: dict[str, Any], what: str
) -> dict[str, tuple[Any, Any]]:
    """Raise `UsageError` with the difference if the settings have changed.

    Returns the keys that differ and change the weights in rounding only, with both values.
    """
    changed = differences(old, new)
    rounding = {key: changed.pop(key) for key in list(changed) if _PHASE.sub("", key) in ROUNDING}
    if changed:
        lines = "\n".join(f"  {key}: {old!r} -> {new!r}" for key, (old, new) in changed.items())
        raise UsageError(f"the {what} differs from that of the run to resume:\n{lines}")
    return rounding
