"""Networks trained for a task: a safetensors file with a JSON card beside it, and ONNX."""

import json
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel, ConfigDict, ValidationError
from safetensors.torch import save
from torch import Tensor, nn
from torchvision.models.detection import FasterRCNN

from unshortcut.errors import UsageError
from unshortcut.files import write_bytes, write_json
from unshortcut.inference.preprocessing import IMAGENET_MEAN, IMAGENET_STD
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
    size: int | None = None
    """Side of the images that it was trained on, in pixels."""
    mean: tuple[float, ...] = IMAGENET_MEAN
    std: tuple[float, ...] = IMAGENET_STD
    recipe: dict[str, Any] | None = None
    versions: dict[str, str] = {}
    commit: str | None = None


def save_network(module: nn.Module, card: NetworkCard, path: Path) -> None:
    """Write the weights of a network and its card.

    A tensor that has several names, such as the last stage of an encoder that is also the head of a
    detector, is written once.
    """
    tensors = {
        name: tensor.detach().cpu().contiguous() for name, tensor in _distinct(module).items()
    }
    write_bytes(path, save(tensors))
    write_json(card_path(path), card.model_dump(mode="json"))


def load_network_weights(module: nn.Module, path: Path) -> None:
    """Load what `save_network` wrote into a network of the same architecture."""
    tensors = read_weights(path)
    wanted = {name: tensor.shape for name, tensor in _distinct(module).items()}
    if {name: tensor.shape for name, tensor in tensors.items()} != wanted:
        differing = sorted(
            name
            for name in wanted.keys() | tensors.keys()
            if name not in tensors or wanted.get(name) != tensors[name].shape
        )
        raise UsageError(f"'{path.name}' does not fit its card: '{differing[0]}' differs")
    module.load_state_dict(tensors, strict=False)  # other names of the same tensors are left out


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
            Encoder(card.encoder), len(card.classes), card.task, card.size, card.mean, card.std
        )
    load_network_weights(detector, path)
    detector.classes = ("background", *card.classes)
    return detector.eval()


def _distinct(module: nn.Module) -> dict[str, Tensor]:
    """The tensors of a state dict, each under the first of its names."""
    first: dict[int, str] = {}
    state = module.state_dict(keep_vars=True)
    for name, tensor in state.items():
        first.setdefault(id(tensor), name)
    return {name: state[name] for name in first.values()}
