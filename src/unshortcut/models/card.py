"""Exported weights: a safetensors file beside a JSON card that says how to use them."""

import json
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel, ConfigDict, ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor

from unshortcut.errors import UsageError
from unshortcut.files import write_bytes, write_json
from unshortcut.models.encoder import Encoder, EncoderSettings
from unshortcut.parts import usage_error

WEIGHTS_FILE = "encoder.safetensors"


class Preprocessing(BaseModel):
    """How an image becomes the input of a model."""

    model_config = ConfigDict(extra="forbid")

    size: int = 224
    """Side of the square that the model sees."""
    crop_share: float = 0.875
    """Side of the center crop over the shorter side of the resized image."""
    mean: tuple[float, float, float] = (0.485, 0.456, 0.406)
    std: tuple[float, float, float] = (0.229, 0.224, 0.225)


class Card(BaseModel):
    """What a person or a program must know to use exported weights."""

    model_config = ConfigDict(extra="forbid")

    encoder: EncoderSettings
    preprocessing: Preprocessing
    dim: int
    """Width of the features."""
    classes: list[str] | None = None
    """Of the classifier, where there is one."""
    spaces: list[str] | None = None
    """Names of the spaces that the features are of, as many equal parts, where there are such."""
    recipe: dict[str, Any] | None = None
    versions: dict[str, str] = {}
    commit: str | None = None


def card_path(weights: Path) -> Path:
    return weights.with_suffix(".json")


def save_encoder(encoder: Encoder, card: Card, weights: Path) -> None:
    """Write weights and card; the names are those of the bare timm model."""
    state = encoder.model.state_dict()
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in state.items()}
    write_bytes(weights, save(tensors))
    write_json(card_path(weights), card.model_dump(mode="json"))


def read_card(weights: Path) -> Card:
    path = card_path(weights)
    if not path.is_file():
        raise UsageError(f"'{weights.name}' has no card: '{path.name}' should lie beside it")
    try:
        return Card.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        raise usage_error(error, Card, f"card '{path.name}'") from None
    except ValueError as error:
        raise UsageError(f"card '{path.name}' is not JSON: {error}") from None


def read_weights(path: Path) -> dict[str, Tensor]:
    """Tensors of a safetensors file; nothing in it can be executed."""
    try:
        return load_file(path)
    except (SafetensorError, OSError) as error:
        raise UsageError(f"'{path.name}' is not a safetensors file: {error}") from None


def load_encoder(weights: Path) -> tuple[Encoder, Card]:
    """An exported encoder, in eval mode, and its card."""
    card = read_card(weights)
    with torch.random.fork_rng(devices=[]):
        encoder = Encoder(card.encoder)
    try:
        encoder.model.load_state_dict(read_weights(weights))
    except RuntimeError as error:
        raise UsageError(f"'{weights.name}' does not fit its card: {error}") from None
    return encoder.eval(), card
