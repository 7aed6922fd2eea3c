"""Predictions of a finished detector or segmenter, drawn on images of any data set."""

from pathlib import Path

import torch
from PIL import Image as PillowImage

from unshortcut.data.naming import Data
from unshortcut.data.open import open_data
from unshortcut.errors import UsageError
from unshortcut.methods.method import TrainingContext
from unshortcut.models.card import WEIGHTS_FILE
from unshortcut.models.encoder import Encoder
from unshortcut.training.contact_sheet import check_out, saved
from unshortcut.transfer.evaluation import Evaluation
from unshortcut.transfer.exported import (
    DETECTOR_FILE,
    NetworkCard,
    load_network_weights,
    read_network_card,
)
from unshortcut.transfer.segmenter import SEGMENTER_FILE
from unshortcut.transfer.sheets import prediction_sheet
from unshortcut.transfer.task import Task
from unshortcut.transfer.views import evaluation_view


def show_predictions(
    run: str | Path,
    data: Data,
    out: str | Path | None = None,
    *,
    num_images: int = 8,
    seed: int = 0,
) -> PillowImage.Image:
    """Draw random images with what a run of `finetune` predicts, beside their annotations, if any.

    Args:
        run: the folder of a finished run for the task `detect` or `segment`, or its weights.
        out: the image file to write, if any.
    """
    check_out(out)
    task, card = load_task(run)
    longest = ((card.recipe or {}).get("views") or {}).get("longest")
    view = evaluation_view(True, card.preprocessing.size, 1.0, longest)
    evaluation = Evaluation(open_data(data), view, card.preprocessing)
    page = prediction_sheet(evaluation, task, card.classes, seed=seed, num_images=num_images)
    return saved(page, out)


def load_task(run: str | Path) -> tuple[Task, NetworkCard]:
    """The task of a finished run, with its trained network in eval mode, and its card."""
    path = network_file(run)
    card = read_network_card(path)
    ready = card.preprocessing
    context = TrainingContext(mean=ready.mean, std=ready.std, size=ready.size)
    with torch.random.fork_rng(devices=[]):
        task = card.task.build(Encoder(card.encoder), card.classes, context)
    load_network_weights(task.network, path)
    return task.eval(), card


def network_file(run: str | Path) -> Path:
    """The weights of the detector or segmenter of a run folder, or the file itself."""
    path = Path(run).expanduser()
    if path.is_file():
        return path
    for name in (DETECTOR_FILE, SEGMENTER_FILE):
        if (path / name).is_file():
            return path / name
    reason = (
        "predicts one class per image" if (path / WEIGHTS_FILE).is_file() else "is not finished"
    )
    raise UsageError(
        f"'{run}' has no detector and no segmenter: it {reason}, or it is no run of "
        "`unshortcut finetune --task detect` or `segment`"
    )
