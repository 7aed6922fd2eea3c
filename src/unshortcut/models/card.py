"""Exported weights: a safetensors file and, beside it, a JSON card that says how to use them."""

import json
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel, ConfigDict, ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor, nn

from unshortcut.errors import UsageError
from unshortcut.files import write_bytes, write_json
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.classifier import classifier_tensors, take_classifier
from unshortcut.models.encoder import Encoder, EncoderSettings
from unshortcut.parts import usage_error

WEIGHTS_FILE = "encoder.safetensors"
"""The trained encoder in a run folder, with its classifier, if it has one."""
DETECTOR_FILE, SEGMENTER_FILE = NETWORK_FILES = ("detector.safetensors", "segmenter.safetensors")
"""The trained networks of runs that fine-tune for regions. They have cards of another kind."""


class Card(BaseModel):
    """What a person or a program needs to know to use exported weights."""

    model_config = ConfigDict(extra="forbid")

    encoder: EncoderSettings
    preprocessing: Preprocessing
    dim: int  # width of the features
    classes: list[str] | None = None
    """Names of the classes, in the order of the logits, if the weights include a classifier."""
    multilabel: bool = False
    """Whether each class has a probability of its own, the sigmoid of its logit."""
    spaces: list[str] | None = None
    """Names of the spaces whose features are concatenated in equal parts, if there are any."""
    recipe: dict[str, Any] | None = None
    command: str | None = None
    """The command that makes these weights again: to the bit with these versions and hardware."""
    hardware: dict[str, Any] = {}
    """What the weights were trained on: processor, instructions, threads, devices."""
    versions: dict[str, str] = {}
    commit: str | None = None


def card_path(weights: Path) -> Path:
    """The path of the card that belongs to a file of weights."""
    return weights.with_suffix(".json")


def save_encoder(
    encoder: Encoder, card: Card, weights: Path, classifier: nn.Linear | None = None
) -> None:
    """Write weights and card; parameters have the names of the bare timm model.

    A classifier for the classes of the card is included under timm's name for it (`fc` in a
    ResNet), or as `classifier` for an encoder that timm does not have.
    """
    state = encoder.model.state_dict()
    if classifier is not None:
        state |= classifier_tensors(encoder, classifier)
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in state.items()}
    write_bytes(weights, save(tensors))
    # Options that only changed the initial weights are not needed to use trained ones.
    card = card.model_copy(update={"encoder": card.encoder.trained()})
    write_json(card_path(weights), card.model_dump(mode="json"))


def read_card(weights: Path) -> Card:
    """Read and validate the card of a file of weights."""
    path = card_path(weights)
    if not path.is_file():
        raise UsageError(
            f"'{weights.name}' has no card: '{path.name}' must be in the same folder; for weights "
            f"that others have published, write timm:NAME@{weights.name}"
        )
    try:
        stated = json.loads(path.read_text(encoding="utf-8"))
        _refuse_others(weights, stated)
        return Card.model_validate(stated)
    except ValidationError as error:
        raise usage_error(error, Card, f"card '{path.name}'") from None
    except ValueError as error:
        raise UsageError(f"card '{path.name}' is not JSON: {error}") from None


def _refuse_others(weights: Path, stated: Any) -> None:
    """Raise `UsageError` for the card of weights that are not those of an encoder."""
    if not isinstance(stated, dict):
        return
    task = stated.get("task")
    if isinstance(task, dict):
        raise UsageError(
            f"'{weights}' is a network for the task '{task.get('name')}' and no encoder; "
            f"`unshortcut export {weights} --to timm` writes its encoder"
        )
    if stated.get("module"):
        raise UsageError(
            f"'{weights}' has the weights of a module of your own, which no settings describe; "
            "load them into that module: their names begin with 'module.'"
        )


def read_weights(path: Path) -> dict[str, Tensor]:
    """Read the tensors of a safetensors file, a format that cannot contain code."""
    try:
        return load_file(path)
    except (SafetensorError, OSError) as error:
        raise UsageError(f"'{path.name}' is not a safetensors file: {error}") from None


def load_encoder(weights: Path) -> tuple[Encoder, Card]:
    """Load an exported encoder, in eval mode, with its card; a classifier is left out."""
    encoder, _, card = load_exported(weights)
    return encoder, card


def load_exported(weights: Path) -> tuple[Encoder, nn.Linear | None, Card]:
    """Load an exported encoder, in eval mode, its classifier, if there is one, and its card."""
    card = read_card(weights)
    with torch.random.fork_rng(devices=[]):
        encoder = Encoder(card.encoder)
    tensors, classifier = read_weights(weights), None
    try:
        if card.classes is not None:
            classifier, tensors = take_classifier(encoder, tensors, len(card.classes))
        encoder.model.load_state_dict(tensors)
    except (RuntimeError, UsageError) as error:
        raise UsageError(f"'{weights.name}' does not fit its card: {error}") from None
    return encoder.eval(), classifier, card
