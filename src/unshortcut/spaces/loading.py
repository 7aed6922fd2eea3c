"""Spaces of a LooC run as features: all of them, or those that a task wants.

"A space" is the hidden layer of its head for LooC, and its branch of the encoder for LooC++, whose
own representation is all branches side by side. LooC's own is the backbone, which has no spaces.
"""

from collections.abc import Sequence
from pathlib import Path

import torch

from unshortcut.errors import UsageError, unknown
from unshortcut.methods.looc import LooC
from unshortcut.models.branches import branch_state
from unshortcut.models.card import Card, save_encoder
from unshortcut.models.encoder import Encoder
from unshortcut.models.heads import MLPHead
from unshortcut.models.hidden_layers import HiddenLayerSettings, WithHiddenLayers
from unshortcut.models.load import LoadedModel, from_module
from unshortcut.training.pretraining import card_of
from unshortcut.training.projection import load_method


def load_spaces(run: str | Path, names: Sequence[str] | None = None) -> LoadedModel:
    """A run as a model whose features (N, S · W) are those of some spaces, by default of all."""
    encoder, card = space_encoder(run, names)
    if torch.cuda.is_available():
        encoder.cuda()
    named = "" if names is None else f" ({', '.join(card.spaces or ())})"
    return from_module(f"{Path(run).name}{named}", encoder, card.preprocessing, spaces=card.spaces)


def save_spaces(run: str | Path, names: Sequence[str], path: Path) -> None:
    """Write the encoder that gives just these spaces: a `.safetensors` file and its card."""
    encoder, card = space_encoder(run, names)
    save_encoder(encoder, card, path)


def space_encoder(run: str | Path, names: Sequence[str] | None = None) -> tuple[Encoder, Card]:
    """An encoder whose features are those of some spaces of a run, in the order of the run."""
    method, recipe = load_method(run)
    if not isinstance(method, LooC):
        raise UsageError(
            f"'{run}' has no spaces to choose from: it was trained by '{recipe.method.name}', not "
            "by 'looc'"
        )
    places = _places(method, names)
    build = _of_branches if method.head.split_features else _of_hidden_layers
    with torch.random.fork_rng(devices=[]):
        encoder = build(method, places)
    card = card_of(method, recipe).model_copy(
        update={
            "encoder": encoder.settings,
            "dim": encoder.dim,
            "spaces": [method.spaces[place] for place in places],
        }
    )
    encoder.set_normalization(card.preprocessing.mean, card.preprocessing.std)
    return encoder.eval(), card


def _places(method: LooC, names: Sequence[str] | None) -> list[int]:
    for name in names or ():
        if name not in method.spaces:
            raise unknown("space", name, method.spaces)
    if names is not None and not names:
        raise UsageError(f"say at least one of the spaces {', '.join(method.spaces)}")
    chosen = method.spaces if names is None else names
    return [place for place, space in enumerate(method.spaces) if space in chosen]


def _of_branches(method: LooC, places: Sequence[int]) -> Encoder:
    settings = method.encoder.settings.model_copy(update={"branches": len(places)})
    encoder = Encoder(settings)
    branch_state(method.encoder.model.state_dict(), places, encoder.model)
    return encoder


def _of_hidden_layers(method: LooC, places: Sequence[int]) -> Encoder:
    layers = HiddenLayerSettings(
        count=len(places), width=method.settings.hidden, batch_norm=method.settings.head_batch_norm
    )
    settings = method.encoder.settings.model_copy(update={"hidden_layers": layers})
    encoder = Encoder(settings)
    model = encoder.model
    assert isinstance(model, WithHiddenLayers)
    model.network.load_state_dict(method.encoder.model.state_dict())
    heads = [head for head in method.head.heads if isinstance(head, MLPHead)]
    model.load([heads[place].hidden for place in places])
    return encoder
