"""Load the spaces of a LooC run as features, all of them or a subset.

The features of a space are the hidden layer of its head for LooC, and its branch of the encoder for
LooC++. The representation of a LooC++ run is all branches side by side; that of a LooC run is the
backbone, which has no spaces.
"""

from collections.abc import Sequence
from pathlib import Path

import torch

from unshortcut.errors import UsageError
from unshortcut.methods.looc import LooC, LooCSettings
from unshortcut.models.branches import branch_state
from unshortcut.models.card import Card, save_encoder
from unshortcut.models.encoder import Encoder
from unshortcut.models.heads import HiddenLayerSettings, MLPHead, WithHiddenLayers
from unshortcut.models.load import LoadedModel, ModelLike, as_model, from_module
from unshortcut.recipes.load import load_recipe
from unshortcut.spaces.subsets import ordered, required_spaces
from unshortcut.training.folder import RunFolder, is_run
from unshortcut.training.pretraining import card_of
from unshortcut.training.projection import load_method


def load_spaces(run: str | Path, names: Sequence[str] | None = None) -> LoadedModel:
    """Load a run as a model whose features (N, S · W) are those of S spaces, by default all."""
    encoder, card = space_encoder(run, names)
    if torch.cuda.is_available():
        encoder.cuda()
    named = "" if names is None else f" ({', '.join(card.spaces or ())})"
    return from_module(f"{Path(run).name}{named}", encoder, card.preprocessing, spaces=card.spaces)


def load_with_spaces(model: ModelLike) -> LoadedModel:
    """Load a model with all of its spaces; a model without spaces is a `UsageError`."""
    if not isinstance(model, LoadedModel) and is_run(model):
        return load_spaces(model)
    loaded = as_model(model)
    required_spaces(loaded)
    return loaded


def has_spaces(run: str | Path) -> bool:
    """Whether a run was trained with a method that has spaces; its checkpoint may be missing."""
    return isinstance(load_recipe(RunFolder(Path(run)).last_phase.recipe).method, LooCSettings)


def save_spaces(run: str | Path, names: Sequence[str], path: Path) -> None:
    """Write an encoder for the named spaces: a `.safetensors` file and its card."""
    encoder, card = space_encoder(run, names)
    save_encoder(encoder, card, path)


def space_encoder(run: str | Path, names: Sequence[str] | None = None) -> tuple[Encoder, Card]:
    """Build an encoder with the features of some spaces of a run, in the order of the run."""
    method, recipe = load_method(run)
    if not isinstance(method, LooC):
        raise UsageError(
            f"'{run}' has no spaces to choose from: it was trained with '{recipe.method.name}', "
            "not with 'looc'"
        )
    spaces = ordered(method.spaces, method.spaces if names is None else names)
    indices = [method.spaces.index(space) for space in spaces]
    build = _from_branches if method.head.split_features else _from_hidden_layers
    with torch.random.fork_rng(devices=[]):
        encoder = build(method, indices)
    card = card_of(method, recipe).model_copy(
        update={"encoder": encoder.settings, "dim": encoder.dim, "spaces": list(spaces)}
    )
    encoder.set_normalization(card.preprocessing.mean, card.preprocessing.std)
    return encoder.eval(), card


def _from_branches(method: LooC, indices: Sequence[int]) -> Encoder:
    settings = method.encoder.settings.model_copy(update={"branches": len(indices)})
    encoder = Encoder(settings)
    branch_state(method.encoder.model.state_dict(), indices, encoder.model)
    return encoder


def _from_hidden_layers(method: LooC, indices: Sequence[int]) -> Encoder:
    layers = HiddenLayerSettings(
        count=len(indices), width=method.settings.hidden, batch_norm=method.settings.head_batch_norm
    )
    settings = method.encoder.settings.model_copy(update={"hidden_layers": layers})
    encoder = Encoder(settings)
    model = encoder.model
    assert isinstance(model, WithHiddenLayers)
    model.network.load_state_dict(method.encoder.model.state_dict())
    heads = [head for head in method.head.heads if isinstance(head, MLPHead)]
    model.load([heads[index].hidden for index in indices])
    return encoder
