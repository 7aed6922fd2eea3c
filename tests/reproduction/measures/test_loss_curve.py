"""The early and the final loss of a hand-made log."""

import json
from pathlib import Path

import pytest

from tests.reproduction.measures.oracles import EVALUATION
from unshortcut.reproduction.measures.loss_curve import LossCurveMeasure
from unshortcut.training.folder import RunFolder


def metrics_of(folder: Path, entries: list[dict[str, float]]) -> dict[str, float]:
    RunFolder(folder).log.write_text("".join(json.dumps(one) + "\n" for one in entries))
    return LossCurveMeasure().compute(folder, EVALUATION)


def test_the_losses_are_those_of_the_epoch_after_a_tenth_and_of_the_last(tmp_path: Path) -> None:
    entries = [{"step": at, "epoch": at / 2, "loss": 100.0 - at} for at in range(1, 81)]
    entries.insert(7, {"step": 7, "epoch": 3.5, "knn_accuracy": 50.0})
    found = metrics_of(tmp_path, entries)  # 40 epochs of two logged steps
    assert found == pytest.approx({"early_loss": 100 - 7.5, "final_loss": 100 - 79.5})


def test_a_short_training_has_the_loss_of_its_first_epoch(tmp_path: Path) -> None:
    entries = [{"step": at, "epoch": at / 4, "loss": float(at)} for at in range(1, 9)]
    assert metrics_of(tmp_path, entries) == pytest.approx({"early_loss": 2.5, "final_loss": 6.5})
