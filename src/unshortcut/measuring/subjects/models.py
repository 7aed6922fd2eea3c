"""The models that a measurement is about: told apart by name, and with their spaces."""

from collections.abc import Sequence
from pathlib import Path

from unshortcut.methods.looc import LooCSettings
from unshortcut.models.load import LoadedModel, ModelLike, as_model
from unshortcut.recipes.load import load_recipe
from unshortcut.result import public_name, told_apart
from unshortcut.spaces.loading import load_spaces
from unshortcut.spaces.subsets import required_spaces
from unshortcut.training.folder import RunFolder
from unshortcut.training.projection import is_run


def by_name(models: Sequence[ModelLike]) -> dict[str, ModelLike]:
    """Models by what the user calls them; a number tells those apart that share a name."""
    names = [
        model.name if isinstance(model, LoadedModel) else public_name(str(model))
        for model in models
    ]
    return dict(zip(told_apart(names), models, strict=True))


def load_with_spaces(model: ModelLike) -> LoadedModel:
    """A model with all of its spaces: of a run, of an export, or as it is; else a `UsageError`."""
    if not isinstance(model, LoadedModel) and is_run(model):
        return load_spaces(model)
    loaded = as_model(model)
    required_spaces(loaded)
    return loaded


def has_spaces(run: str | Path) -> bool:
    """Whether a run is of a method with spaces, whatever has become of its checkpoint."""
    return isinstance(load_recipe(RunFolder(Path(run)).recipe).method, LooCSettings)
