"""What a method that corrects labels learns from the phase before, when its training begins."""

from pathlib import Path

from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.methods.method import Method
from unshortcut.models.load import load_model
from unshortcut.recipes.schema import Recipe, needs_classifier
from unshortcut.training.folder import RunFolder


def prepare_correction(
    method: Method, recipe: Recipe, source: ImageSource, folder: RunFolder, before: Path | None
) -> None:
    """Prepare a method that corrects labels, unless its checkpoint has what it needs.

    `before` is the folder of the phase before; without one it is a `UsageError`. Other methods
    learn nothing.
    """
    if not recipe.method.corrects_labels or folder.checkpoint.exists():
        return
    if before is None:
        raise UsageError(needs_classifier(recipe.method))
    method.prepare(load_model(before), source)
