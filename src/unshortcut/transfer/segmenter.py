"""Trained segmenters, loaded as torchvision's FCN."""

from pathlib import Path

import torch
from torchvision.models.segmentation import FCN

from unshortcut.errors import UsageError
from unshortcut.models.encoder import Encoder
from unshortcut.transfer.exported import (
    NetworkCard,
    load_network_weights,
    read_network_card,
    weights_file,
)
from unshortcut.transfer.networks.map_backbone import prepare_backbone
from unshortcut.transfer.networks.segmenter import SegmenterSettings

SEGMENTER_FILE = "segmenter.safetensors"
"""The trained segmenter in a run folder.

Its parameters have torchvision's names: with a plain ResNet-50 and the head `torchvision` they load
strictly into `torchvision.models.segmentation.fcn_resnet50`."""


def load_segmenter(where: str | Path) -> tuple[FCN, NetworkCard]:
    """Load a segmenter, in eval mode: the folder of a finished run, or its file of weights.

    For normalized images (N, 3, H, W) of any size it returns logits `out` and, if it was trained
    with an auxiliary head, `aux`, each (N, classes, H, W). The card names the classes and the
    normalization. Nothing in the file is executed.
    """
    path = weights_file(where, SEGMENTER_FILE, "segment")
    card = read_network_card(path)
    task = card.task
    if not isinstance(task, SegmenterSettings):
        raise UsageError(f"'{path}' is no segmenter, its task is '{task.name}'")
    with torch.random.fork_rng(devices=[]):
        encoder = Encoder(card.encoder)
        shape = prepare_backbone(encoder, task.output_stride)
        network = task.heads(shape, len(card.classes)).on(encoder)
    load_network_weights(network, path)
    network.to(memory_format=encoder.memory_format)
    return network.eval(), card
