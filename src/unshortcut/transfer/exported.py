"""Networks trained for a task: a safetensors file with a JSON card beside it, and ONNX."""

import json
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel, ConfigDict, ValidationError
from safetensors.torch import save
from torch import nn
from torchvision.models.detection import FasterRCNN

from unshortcut.errors import UsageError
from unshortcut.files import write_bytes, write_json
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.card import card_path, read_weights
from unshortcut.models.encoder import Encoder, EncoderSettings
from unshortcut.parts import usage_error
from unshortcut.transfer.networks.detector import DetectorSettings, build_detector
from unshortcut.transfer.task import AnyTask

DETECTOR_FILE = "detector.safetensors"
"""The trained detector in a run folder."""


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


def load_network_weights(module: nn.Module, path: Path) -> None:
    """Load what `save_network` wrote into a network of the same architecture."""
    try:
        module.load_state_dict(read_weights(path))
    except RuntimeError as error:
        reason = str(error).splitlines()[-1].strip()
        raise UsageError(f"'{path.name}' does not fit its card: {reason}") from None


def read_network_card(path: Path) -> NetworkCard:
    """Read and validate the card of a network that was trained for a task."""
    beside = card_path(path)
    if not beside.is_file():
        raise UsageError(f"'{path}' has no card: '{beside.name}' must be in the same folder")
    try:
        return NetworkCard.model_validate(json.loads(beside.read_text(encoding="utf-8")))
    except ValidationError as error:
        raise usage_error(error, NetworkCard, f"card '{beside.name}'") from None
    except ValueError as error:
        raise UsageError(f"card '{beside.name}' is not JSON: {error}") from None


def weights_file(where: str | Path, name: str, task: str) -> Path:
    """The file of weights of a run folder, or the file itself."""
    path = Path(where).expanduser()
    found = path / name if path.is_dir() else path
    if not found.is_file():
        reason = f"has no '{name}'" if path.is_dir() else "does not exist"
        raise UsageError(
            f"'{where}' {reason}: give the folder of a finished run of "
            f"`unshortcut finetune --task {task}`, or the file"
        )
    return found


def load_detector(where: str | Path) -> FasterRCNN:
    """Load a trained detector, in eval mode: the folder of a run, or its `detector.safetensors`.

    It is torchvision's `FasterRCNN`, which takes a list of images (3, H, W) with values from 0 to 1
    and of any size, and gives boxes in pixels of these images. Its attribute `classes` names the
    labels; label 0 is the background.
    """
    path = weights_file(where, DETECTOR_FILE, "detect")
    card = read_network_card(path)
    if not isinstance(card.task, DetectorSettings):
        raise UsageError(f"'{path}' is no detector, its task is '{card.task.name}'")
    with torch.random.fork_rng(devices=[]):
        detector = build_detector(
            Encoder(card.encoder),
            len(card.classes),
            card.task,
            card.preprocessing.size,
            card.preprocessing.mean,
            card.preprocessing.std,
        )
    load_network_weights(detector, path)
    detector.classes = ("background", *card.classes)
    return detector.eval()
