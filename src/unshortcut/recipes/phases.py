"""Phases of a recipe: trainings one after the other, each a change of the recipe."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from unshortcut.errors import RunError, UsageError
from unshortcut.recipes.reading import merge

_OF_THE_RUN = ("paper", "init", "phases")
"""Keys of a recipe that its phases do not inherit."""


class Phase(BaseModel):
    """A phase: its name, and any keys of a recipe that it changes."""

    model_config = ConfigDict(extra="allow")

    name: str = Field(pattern="^[A-Za-z][A-Za-z0-9_-]*$")

    @property
    def changes(self) -> dict[str, Any]:
        """What the phase changes in the recipe, as plain values."""
        return self.model_extra or {}

    @property
    def states_init(self) -> bool:
        """Whether the phase says itself where its weights come from."""
        return "init" in self.changes

    @property
    def states_data(self) -> bool:
        """Whether the phase names data of its own."""
        return "name" in (self.changes.get("data") or {})

    def values(self, recipe: Mapping[str, Any]) -> dict[str, Any]:
        """The recipe of the phase, from the plain values of the whole recipe."""
        base = {key: deepcopy(value) for key, value in recipe.items() if key not in _OF_THE_RUN}
        changes = deepcopy(self.changes)
        if "size" in (changes.get("views") or {}):
            _follow_views(base["views"], base["views"]["size"])
        return merge(base, changes)


def check_names(phases: list[Phase]) -> None:
    """Raise `UsageError` for a name that two phases share."""
    names = [phase.name for phase in phases]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"phases: {names.count(name)} phases are called '{name}'")


@contextmanager
def of_phase(name: str) -> Iterator[None]:
    """Name the phase in errors about it."""
    try:
        yield
    except (UsageError, RunError) as error:
        raise type(error)(f"phase '{name}': {error}") from error


def _follow_views(values: Any, size: int) -> None:
    """Forget the sizes of augmentations that are those of the views, to follow another one."""
    entries = values.values() if isinstance(values, dict) else values
    for entry in entries if isinstance(values, dict | list) else ():
        if isinstance(entry, dict) and "name" in entry and entry.get("size") == size:
            del entry["size"]
        _follow_views(entry, size)
