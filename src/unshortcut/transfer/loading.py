"""Detectors and segmenters of finished runs, loaded as modules of torchvision."""

import json
from pathlib import Path

import torch
from torch import nn
from torchvision.models.detection import FasterRCNN
from torchvision.models.segmentation import FCN

from unshortcut.errors import UsageError
from unshortcut.methods.method import TrainingContext
from unshortcut.models.card import NETWORK_FILES, WEIGHTS_FILE, card_path, read_weights
from unshortcut.models.encoder import Encoder
from unshortcut.transfer.exported import NetworkCard, read_network_card
from unshortcut.transfer.task import Task


def load_detector(run: str | Path) -> FasterRCNN:
    """Load a trained detector, in eval mode: the folder of a finished run, or a file of weights.

    It is torchvision's `FasterRCNN`, which takes a list of images (3, H, W) with values from 0 to 1
    and of any size, and gives boxes in pixels of these images. Its attribute `classes` names the
    labels; label 0 is the background.
    """
    task, card = load_task(run, "detect")
    detector: FasterRCNN = task.network
    detector.classes = ("background", *card.classes)
    return detector


def load_segmenter(run: str | Path) -> FCN:
    """Load a trained segmenter, in eval mode: the folder of a finished run, or a file of weights.

    It is torchvision's `FCN`, which takes images (N, 3, H, W) of any size, normalized by the `mean`
    and `std` of its attribute `preprocessing`; its `size` is the shorter side of the images that it
    was made for. It gives logits `out` and, if it was trained with an auxiliary head, `aux`, each
    (N, classes, H, W). Its attribute `classes` names them.
    """
    task, card = load_task(run, "segment")
    segmenter: FCN = task.network.eval()
    segmenter.classes, segmenter.preprocessing = tuple(card.classes), card.preprocessing
    return segmenter


def load_task(run: str | Path, name: str | None = None) -> tuple[Task, NetworkCard]:
    """The task of a finished run, with its trained network in eval mode, and its card.

    Nothing in the files is executed. Raises `UsageError` for another task than the named one.
    """
    path = network_file(run)
    card = read_network_card(path)
    if name not in (None, card.task.name):
        kind = {"detect": "detector", "segment": "segmenter"}[str(name)]
        raise UsageError(f"'{run}' is no {kind}, its task is '{card.task.name}'")
    ready = card.preprocessing
    context = TrainingContext(mean=ready.mean, std=ready.std, size=ready.size)
    with torch.random.fork_rng(devices=[]):
        task = card.task.build(Encoder(card.encoder), card.classes, context)
    _load_weights(task.network, path)
    return task.eval(), card


def network_file(run: str | Path) -> Path:
    """The weights of the detector or segmenter of a run folder, or the file itself."""
    path = Path(run).expanduser()
    if path.is_file():
        return path
    found = find_network(path)
    if found is not None:
        return found
    reason = "it is not finished"
    if (path / WEIGHTS_FILE).is_file():
        reason = "it predicts classes of whole images"
    elif not path.exists():
        reason = "it does not exist"
    raise UsageError(
        f"'{run}' has no detector and no segmenter: {reason}, or it is no run of "
        "`unshortcut finetune --task detect` or `segment`"
    )


def find_network(run: str | Path) -> Path | None:
    """As `network_file`; None where the weights are not those of a detector or a segmenter."""
    path = Path(run).expanduser()
    if path.is_dir():
        return next((path / name for name in NETWORK_FILES if (path / name).is_file()), None)
    if not path.is_file():
        return None
    try:
        card = json.loads(card_path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return path if "task" in card else None


def _load_weights(network: nn.Module, path: Path) -> None:
    """Load what `save_network` wrote into a network of the same architecture."""
    try:
        network.load_state_dict(read_weights(path))
    except RuntimeError as error:
        reason = str(error).splitlines()[-1].strip()
        raise UsageError(f"'{path.name}' does not fit its card: {reason}") from None
