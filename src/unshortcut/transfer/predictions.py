"""Predictions of a finished detector or segmenter, drawn on images of any data set."""

from pathlib import Path

from PIL import Image as PillowImage

from unshortcut.data.naming import Data
from unshortcut.data.open import open_data
from unshortcut.training.contact_sheet import check_out, saved
from unshortcut.transfer.evaluation import Evaluation
from unshortcut.transfer.loading import load_task
from unshortcut.transfer.sheets import prediction_sheet
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
