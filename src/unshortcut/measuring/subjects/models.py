"""Models that are compared, by name."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from unshortcut.models.load import LoadedModel, load_model
from unshortcut.result import public_name, told_apart
from unshortcut.training.folder import RunFolder

M = TypeVar("M")
ModelLike = str | Path | LoadedModel
Model = ModelLike


def by_name(models: Sequence[M]) -> dict[str, M]:
    """Models by their names, specs or types; a number is added to repeated names."""
    return dict(zip(told_apart([_name(model) for model in models]), models, strict=True))


def is_run(model: ModelLike) -> bool:
    """Whether a model is given as a run folder of unshortcut, finished or not."""
    return not isinstance(model, LoadedModel) and RunFolder(Path(model)).recipe.is_file()


def load_with_spaces(model: ModelLike) -> LoadedModel:
    """A model with all of its spaces: of a run, of an export, or as it is; else a `UsageError`."""
    from unshortcut.spaces.loading import load_spaces
    from unshortcut.spaces.subsets import required_spaces

    if not isinstance(model, LoadedModel) and is_run(model):
        return load_spaces(model)
    loaded = model if isinstance(model, LoadedModel) else load_model(model)
    required_spaces(loaded)
    return loaded


def has_spaces(run: str | Path) -> bool:
    """Whether a run is of a method with spaces, whatever has become of its checkpoint."""
    from unshortcut.methods.looc import LooCSettings
    from unshortcut.recipes.load import load_recipe

    return isinstance(load_recipe(RunFolder(Path(run)).recipe).method, LooCSettings)


def _name(model: Any) -> str:
    if isinstance(model, LoadedModel):
        return model.name
    return public_name(str(model)) if isinstance(model, str | Path) else type(model).__name__
