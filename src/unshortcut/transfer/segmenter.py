"""Trained segmenters as files: safetensors with a JSON card, loaded as torchvision's FCN."""

import json
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel, ConfigDict, ValidationError
from safetensors.torch import save
from torchvision.models.segmentation import FCN

from unshortcut.errors import UsageError
from unshortcut.files import write_bytes, write_json
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.card import card_path, read_weights
from unshortcut.models.encoder import Encoder, EncoderSettings
from unshortcut.parts import usage_error
from unshortcut.transfer.networks.map_backbone import prepare_backbone
from unshortcut.transfer.networks.segmenter import SegmenterSettings
from unshortcut.transfer.task import AnyTask

SEGMENTER_FILE = "segmenter.safetensors"
"""The trained segmenter in a run folder."""


class SegmenterCard(BaseModel):
    """What a person or a program needs to know to use the weights of a segmenter."""

    model_config = ConfigDict(extra="forbid")

    task: AnyTask
    encoder: EncoderSettings
    classes: list[str]
    """Names of the classes, in the order of the logits."""
    preprocessing: Preprocessing
    """Normalization, and the length of the shorter side of the images that it was trained for."""
    recipe: dict[str, Any] | None = None
    versions: dict[str, str] = {}
    commit: str | None = None


def save_segmenter(network: FCN, card: SegmenterCard, weights: Path) -> None:
    """Write weights and card.

    Parameters have torchvision's names: with a plain ResNet-50 and the head `torchvision` they load
    strictly into `torchvision.models.segmentation.fcn_resnet50`.
    """
    state = network.state_dict()
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in state.items()}
    write_bytes(weights, save(tensors))
    card = card.model_copy(update={"encoder": card.encoder.trained()})
    write_json(card_path(weights), card.model_dump(mode="json"))


def load_segmenter(where: str | Path) -> tuple[FCN, SegmenterCard]:
    """Load a segmenter, in eval mode: the folder of a finished run, or its file of weights.

    For normalized images (N, 3, H, W) of any size it returns logits `out` and, if it was trained
    with an auxiliary head, `aux`, each (N, classes, H, W). The card names the classes and the
    normalization. Nothing in the file is executed.
    """
    weights = _weights_file(where)
    card = _read_card(weights)
    task = card.task
    if not isinstance(task, SegmenterSettings):
        raise UsageError(f"'{where}' is not a segmenter: its task is '{task.name}'")
    with torch.random.fork_rng(devices=[]):
        encoder = Encoder(card.encoder)
        shape = prepare_backbone(encoder, task.output_stride)
        network = task.heads(shape, len(card.classes)).on(encoder)
    try:
        network.load_state_dict(read_weights(weights))
    except RuntimeError as error:
        reason = str(error).splitlines()[-1].strip()
        raise UsageError(f"'{weights.name}' does not fit its card: {reason}") from None
    network.to(memory_format=encoder.memory_format)
    return network.eval(), card


def _weights_file(where: str | Path) -> Path:
    path = Path(where).expanduser()
    weights = path / SEGMENTER_FILE if path.is_dir() else path
    if not weights.is_file():
        reason = f"has no '{SEGMENTER_FILE}'" if path.is_dir() else "does not exist"
        raise UsageError(
            f"'{where}' {reason}: give the folder of a finished run of "
            "`unshortcut finetune --task segment`, or its file of weights"
        )
    return weights


def _read_card(weights: Path) -> SegmenterCard:
    path = card_path(weights)
    if not path.is_file():
        raise UsageError(f"'{weights}' has no card: '{path.name}' must be in the same folder")
    try:
        return SegmenterCard.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        raise usage_error(error, SegmenterCard, f"card '{path.name}'") from None
    except ValueError as error:
        raise UsageError(f"card '{path.name}' is not JSON: {error}") from None
