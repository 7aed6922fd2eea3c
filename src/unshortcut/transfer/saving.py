"""A fine-tuned encoder with a linear head: how it is saved, so that every command can load it."""

from pathlib import Path

from safetensors.torch import save
from torch import nn

from unshortcut.files import write_bytes, write_json
from unshortcut.models.card import Card, card_path, save_encoder
from unshortcut.models.classifier import OWN_PLACE
from unshortcut.models.encoder import Encoder
from unshortcut.models.module_encoder import ModuleEncoder
from unshortcut.transfer.task import About


def save_with_head(
    encoder: Encoder, head: nn.Linear, weights: Path, about: About, multilabel: bool = False
) -> None:
    """Write an encoder and its head: safetensors with a card, under timm's names where it has some.

    Weights of a module that cannot be built from settings have the names of the module behind
    `module.`, and the head is `classifier`; their card lists the classes and the preprocessing.
    """
    if not isinstance(encoder, ModuleEncoder):
        card = Card(
            encoder=encoder.settings,
            preprocessing=about.preprocessing,
            dim=encoder.dim,
            classes=list(about.classes),
            multilabel=multilabel,
            **about.origin,
        )
        save_encoder(encoder, card, weights, head)
        return
    state = encoder.model.state_dict() | head.state_dict(prefix=f"{OWN_PLACE}.")
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in state.items()}
    write_bytes(weights, save(tensors))
    described = {
        "module": True,
        "classes": list(about.classes),
        "multilabel": multilabel,
        "preprocessing": about.preprocessing.model_dump(mode="json"),
        "dim": encoder.dim,
        **about.origin,
    }
    write_json(card_path(weights), described)
