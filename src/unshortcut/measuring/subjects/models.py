"""The models that a measurement is about: told apart by name."""

from collections.abc import Sequence

from unshortcut.models.load import LoadedModel, ModelLike
from unshortcut.result import public_name, unique_names


def by_name(models: Sequence[ModelLike]) -> dict[str, ModelLike]:
    """Models by what the user calls them; a number tells those apart that share a name."""
    names = [
        model.name if isinstance(model, LoadedModel) else public_name(str(model))
        for model in models
    ]
    return dict(zip(unique_names(names), models, strict=True))
