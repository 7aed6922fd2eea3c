"""Evaluation: what is read, what is left out, and which weights are the best."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.data.images import write_mask, write_tree
from tests.small import PlainEncoder
from unshortcut.data.open import open_data
from unshortcut.data.regions import Regions
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.methods.method import TrainingContext
from unshortcut.training.logs import LogWriter
from unshortcut.transfer.evaluation import Evaluation
from unshortcut.transfer.folder import TransferFolder
from unshortcut.transfer.task import Example
from unshortcut.transfer.tasks.classify import ClassificationScore, ClassifySettings
from unshortcut.transfer.validation import Validation
from unshortcut.transfer.views import WholeImageView


def test_a_mask_is_read_once_for_each_image(tmp_path: Path) -> None:
    write_tree(tmp_path, ["images/1.png"])
    write_mask(tmp_path / "masks" / "1.png", [[0, 1] * 4] * 6)
    source = open_data(tmp_path)
    reads: list[int] = []
    regions = source.regions

    def counted(index: int) -> Regions:
        reads.append(index)
        return regions(index)

    source.regions = counted  # type: ignore[method-assign]
    evaluation = Evaluation(source, WholeImageView(16, 32), Preprocessing(size=16))
    _, example = evaluation.read(0)
    assert reads == [0]
    assert example.regions.mask is not None and example.regions.mask.shape == (6, 8)


@pytest.mark.parametrize("logits", [[0.0, 0.0], [np.nan, np.nan], [0.0, np.nan]])
def test_neither_ties_nor_nan_are_right(logits: list[float]) -> None:
    score = ClassificationScore(2)
    score.add([np.array(logits)], [Example(label=0)])
    assert score.result()["top1"] == 0


class Given:
    """Stands for an evaluation whose results are known."""

    failures = (("a.png", "it is broken"),)

    def __init__(self, *values: float) -> None:
        self.values = list(values)

    def score(self, task: object) -> dict[str, float]:
        return {"top1": self.values.pop(0)}


def test_of_equally_good_weights_the_last_are_the_best_and_bad_images_are_listed(
    tmp_path: Path,
) -> None:
    folder = TransferFolder(tmp_path, "encoder.safetensors")
    task = ClassifySettings().build(PlainEncoder(), ("a", "b"), TrainingContext())
    log = LogWriter(folder, 1)
    loop: Any = SimpleNamespace(log=log, progress=SimpleNamespace(note=""))
    given: Any = Given(float("nan"), 50.0, 50.0, 40.0)
    validation = Validation(given, "top1", folder, loop)
    trainer: Any = SimpleNamespace(is_global_zero=True)
    for epoch in range(4):
        task.classifier.bias.data.fill_(epoch)
        validation.on_train_epoch_end(trainer, task)
    validation.load_best(task)
    assert validation.best == 50 and task.classifier.bias.tolist() == [2, 2]
    assert [one.identity for one in log.failures] == ["a.png"]
