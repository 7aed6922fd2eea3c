"""The files of a detector or segmenter: its weights as safetensors, and a JSON card beside them."""

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError
from safetensors.torch import save
from torch import nn

from unshortcut.errors import UsageError
from unshortcut.files import write_bytes, write_json
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.card import card_path
from unshortcut.models.encoder import EncoderSettings
from unshortcut.parts import usage_error
from unshortcut.transfer.task import AnyTask


class NetworkCard(BaseModel):
    """What is needed to use the weights of a network that was trained for a task."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    task: AnyTask
    encoder: EncoderSettings
    classes: list[str]
    preprocessing: Preprocessing
    """Shorter side of the images in pixels, and their normalization; nothing is cropped."""
    recipe: dict[str, Any] | None = None
    versions: dict[str, str] = {}
    commit: str | None = None


def save_network(module: nn.Module, card: NetworkCard, path: Path) -> None:
    """Write the weights of a network and its card."""
    state = module.state_dict()
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in state.items()}
    write_bytes(path, save(tensors))
    # Options that only changed the initial weights are not needed to use trained ones.
    card = card.model_copy(update={"encoder": card.encoder.trained()})
    write_json(card_path(path), card.model_dump(mode="json"))


def read_network_card(path: Path) -> NetworkCard:
    """Read and validate the card of a network that was trained for a task."""
    beside = card_path(path)
    if not beside.is_file():
        raise UsageError(f"'{path}' has no card: '{beside.name}' must be in the same folder")
    try:
        stated = json.loads(beside.read_text(encoding="utf-8"))
        if "task" not in stated:
            raise UsageError(f"'{path}' is an encoder; load it with `unshortcut.load_model`")
        return NetworkCard.model_validate(stated)
    except ValidationError as error:
        raise usage_error(error, NetworkCard, f"card '{beside.name}'") from None
    except ValueError as error:
        raise UsageError(f"card '{beside.name}' is not JSON: {error}") from None
