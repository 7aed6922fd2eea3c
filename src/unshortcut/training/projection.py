"""The embedding of a run or of published weights: encoder and head, the space of the loss."""

from pathlib import Path
from typing import Any

import torch

from unshortcut.errors import UsageError
from unshortcut.methods.method import Method
from unshortcut.models.load import LoadedModel, from_module
from unshortcut.models.published.model import load_published
from unshortcut.models.published.spec import parse_published
from unshortcut.recipes.load import load_recipe
from unshortcut.recipes.schema import Recipe
from unshortcut.training.checkpoint import load_checkpoint
from unshortcut.training.fit import preprocessing
from unshortcut.training.folder import RunFolder, is_run
from unshortcut.training.pretraining import build_method


def load_projection(run: str | Path, **stated: Any) -> LoadedModel:
    """Load a run as a model whose features (N, D) are its method's unit embeddings.

    The exported encoder has no head, so the weights come from the run's checkpoint. Published
    weights with a projection head are loaded in the same way.

    Args:
        run: a run folder, or published weights as in `load_model`.
        stated: fields of `Preprocessing`, for published weights, which do not state them.
    """
    if not is_run(run) and parse_published(run) is not None:
        projection = load_published(run, **stated).projection()
        if projection.module is not None and torch.cuda.is_available():
            projection.module.cuda()
        return projection
    method, recipe = load_method(run)
    if torch.cuda.is_available():
        method.cuda()
    return from_module(Path(run).name, method, preprocessing(recipe), features=method.embed)


def load_method(run: str | Path) -> tuple[Method, Recipe]:
    """Load the method of a run, with the weights of its checkpoint, and the recipe."""
    folder = RunFolder(Path(run)).last_phase
    if not is_run(run):
        raise UsageError(
            f"'{run}' is not a run of unshortcut; only runs and published weights with a "
            "projection head have an embedding"
        )
    if not folder.checkpoint.is_file():
        raise UsageError(f"'{run}' has no checkpoint, which holds the head of a run")
    recipe = load_recipe(folder.recipe)
    if not recipe.method.has_encoder:
        raise UsageError(
            f"'{run}' is a run of '{recipe.method.name}', which trains no encoder and no embedding"
        )
    method = build_method(recipe)
    state = load_checkpoint(folder.checkpoint).get("state_dict", {})
    try:
        # Without the data there are no buffers for training only, such as a memory of every image.
        missing = method.load_state_dict(state, strict=False).missing_keys
    except RuntimeError as error:
        reason = " ".join(str(error).split("\n\t")[1:2]) or str(error)
        raise UsageError(f"the checkpoint of '{run}' does not fit its recipe: {reason}") from None
    if missing:
        raise UsageError(
            f"the checkpoint of '{run}' does not fit its recipe: it lacks '{missing[0]}'"
        )
    return method, recipe
