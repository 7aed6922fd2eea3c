"""Models that are compared, by name."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from unshortcut.models.load import LoadedModel
from unshortcut.result import public_name, unique_names

M = TypeVar("M")


def by_name(models: Sequence[M]) -> dict[str, M]:
    """Models by their names, specs or types; a number is added to repeated names."""
    return dict(zip(unique_names([_name(model) for model in models]), models, strict=True))


def _name(model: Any) -> str:
    if isinstance(model, LoadedModel):
        return model.name
    return public_name(str(model)) if isinstance(model, str | Path) else type(model).__name__
