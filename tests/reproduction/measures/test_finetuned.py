"""Fine-tuning as a measure: its data, its runs, and what is left behind."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from tests.measuring.made import arrays
from tests.real_data import real_data
from tests.transfer.made import QUICK, tiny_model
from unshortcut.data.shapes import Shapes
from unshortcut.data.source import Subset
from unshortcut.errors import UsageError
from unshortcut.reproduction.claim import get_claim
from unshortcut.reproduction.evaluation import Evaluation
from unshortcut.reproduction.measures import finetuned
from unshortcut.reproduction.measures.finetuned import (
    FinetunedDrawingsMeasure,
    FinetunedLabelsMeasure,
    FinetunedTransfersMeasure,
    drawn_finetunings,
)
from unshortcut.transfer import finetuning
from unshortcut.transfer.finetuning import FinetuningRun, finetune

SIZE = 24
QUIET = Console(quiet=True)
TEST = Shapes("test", size=SIZE, count=24)
DRAWN = Evaluation(Shapes("train", size=SIZE, count=32), {"test": TEST}, console=QUIET)
DRAWINGS = FinetunedDrawingsMeasure(seeds=2)
BRIGHTNESS, OTHER_BRIGHTNESS = (
    arrays(
        np.repeat(np.array(levels, np.uint8), 8)[:, None, None, None].repeat(3, 3)
        + np.zeros((16, 16, 16, 3), np.uint8),
        [0] * 8 + [1] * 8,
        ["dark", "bright"],
    )
    for levels in ([30, 220], [40, 210])
)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """An exported encoder where that of a training would be."""
    (tmp_path / "training").mkdir()
    return tiny_model(tmp_path / "training", SIZE)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> list[FinetuningRun]:
    """Trainings of two steps, which are listed as they end."""
    done: list[FinetuningRun] = []

    def quick(*arguments: Any, sets: Sequence[str], **named: Any) -> FinetuningRun:
        sets = [*sets, *QUICK, "schedule.steps=2"]
        done.append(finetune(*arguments, sets=sets, **named))
        return done[-1]

    monkeypatch.setattr(finetuning, "finetune", quick)
    monkeypatch.setattr(finetuned, "SCENES", 16)
    return done


def test_labeled_drawings_are_balanced_and_none_is_tested_on() -> None:
    sketches, scenes = drawn_finetunings(DRAWN, 2)
    assert len(sketches.test) == len(scenes.test) == len(TEST)
    drawn = {
        source.image(index).pixels().tobytes()
        for source in (*sketches.trains, sketches.test)
        for index in range(len(source))
    }
    assert len(drawn) == 2 * 16 + len(TEST), "no drawing occurs twice"
    for train in sketches.trains:
        assert train.labels is not None
        assert np.bincount(train.labels).tolist() == [2] * 8
    assert scenes.test.multilabels is not None and scenes.test.image(0).pixels().shape[0] == SIZE


def test_metrics_are_means_over_seeds_and_runs_are_removed(
    run: Path, short: list[FinetuningRun]
) -> None:
    metrics = DRAWINGS.compute(run, DRAWN)
    assert not (run.parent / "finetuned").exists()
    accuracies, precisions = (
        [one.metrics[key] for one in short if key in one.metrics]
        for key in ("test top1", "test map")
    )
    assert len(accuracies) == len(precisions) == 2
    assert precisions[0] != precisions[1], "other drawings and another seed"
    assert metrics == pytest.approx(
        {"finetuned_sketch": np.mean(accuracies), "finetuned_scenes": np.mean(precisions)}
    )


def test_an_interrupted_measure_keeps_what_is_finished(
    run: Path, short: list[FinetuningRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    measure, quick = FinetunedDrawingsMeasure(seeds=1), finetuning.finetune

    def stops(*arguments: Any, **named: Any) -> FinetuningRun:
        if short:
            raise KeyboardInterrupt
        return quick(*arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(finetuning, "finetune", stops)
        with pytest.raises(KeyboardInterrupt):
            measure.compute(run, DRAWN)
    trained: list[str] = []
    fit = finetuning.fit

    def counts(*arguments: Any) -> Any:
        trained.append(arguments[4].path.name)
        return fit(*arguments)

    monkeypatch.setattr(finetuning, "fit", counts)
    metrics = measure.compute(run, DRAWN)
    assert trained == ["finetuned_scenes-0"]
    assert metrics["finetuned_sketch"] == short[0].metrics["test top1"]


def test_metrics_depend_on_protocol_drawings_and_seeds() -> None:
    base = DRAWINGS.dependencies(DRAWN)
    assert base == DRAWINGS.dependencies(DRAWN)
    other = replace(DRAWN, data=Shapes("train", size=SIZE, count=32, seed=5))
    fewer = FinetunedDrawingsMeasure(seeds=1)
    assert base not in [DRAWINGS.dependencies(other), fewer.dependencies(DRAWN)]
    protocol = base["finetunings"]["finetuned_sketch"]["protocol"]
    assert protocol["schedule"]["steps"] == 200 and "summary" not in protocol


def test_a_transfer_is_learned(run: Path) -> None:
    transfers = dict.fromkeys(("light", "dark"), (BRIGHTNESS, OTHER_BRIGHTNESS))
    evaluation = Evaluation(BRIGHTNESS, {"test": BRIGHTNESS}, transfers, console=QUIET)
    protocol = run.parent / "protocol.yaml"
    protocol.write_text(
        "task: {name: classify}\ndata: {batch_size: 8, workers: 0, validation: 0}\n"
        "views: {augmentations: [{name: horizontal_flip}]}\n"
        "train: {batch_norm: frozen}\n"
        "optimizer: {name: adamw, lr: 0.01}\nschedule: {steps: 12}\n"
    )
    measure = FinetunedTransfersMeasure(("light",), protocol=str(protocol))
    assert measure.compute(run, evaluation) == {"finetuned_light": 100}
    assert FinetunedDrawingsMeasure().compute(run, evaluation) == {}


def test_the_scale_of_the_paper_has_its_protocol() -> None:
    transfers = {"pets": (TEST, TEST)}
    evaluation = Evaluation(DRAWN.data, {"test": TEST}, transfers)
    measure = FinetunedTransfersMeasure()
    small, paper = (
        measure.dependencies(one)["finetunings"]["finetuned_pets"]["protocol"]
        for one in (evaluation, replace(evaluation, protocol="moco"))
    )
    assert (small["schedule"]["steps"], paper["schedule"]["steps"]) == (1000, 20000)


def test_data_without_labels_are_refused_and_missing_ones_named() -> None:
    unlabeled = Subset(TEST, np.arange(4))
    unlabeled.labels, unlabeled.classes = None, None
    evaluation = Evaluation(DRAWN.data, {"test": TEST}, {"pets": (unlabeled, TEST)})
    measure = FinetunedTransfersMeasure(("pets",))
    with pytest.raises(UsageError, match="label for each image"):
        measure.dependencies(evaluation)
    assert measure.notes(evaluation) == ()
    (note,) = measure.notes(DRAWN)
    assert "--transfer pets=TRAIN:TEST" in note


def test_photographs_are_fine_tuned_for_breeds(run: Path, short: list[FinetuningRun]) -> None:
    pets = real_data("pets.tar")
    (measure,) = (
        one
        for one in get_claim("photographs").measures
        if isinstance(one, FinetunedTransfersMeasure)
    )
    transfers = {"pets": (f"{pets}@train", f"{pets}@val"), "other": (TEST, TEST)}
    evaluation = Evaluation(DRAWN.data, {"test": TEST}, transfers, console=QUIET)
    assert measure.dependencies(evaluation)["finetunings"].keys() == {"finetuned_pets"}
    few = replace(evaluation)
    train, test = evaluation.transfers["pets"]
    assert train.classes is not None and len(train.classes) == 37
    few.__dict__["transfers"] = {"pets": (train, Subset(test, np.arange(0, len(test), 20)))}
    assert 0 <= measure.compute(run, few)["finetuned_pets"] <= 100


def test_few_labels_are_new_drawings_or_a_tenth_of_other_data(
    run: Path, short: list[FinetuningRun]
) -> None:
    measure = FinetunedLabelsMeasure()
    (drawn,) = measure._finetunings(DRAWN)
    assert [len(train) for train in drawn.trains] == [80, 80]
    fingerprints = {train.fingerprint() for train in drawn.trains}
    assert len(fingerprints) == 2 and DRAWN.train.fingerprint() not in fingerprints
    others = Evaluation(BRIGHTNESS, {"test": OTHER_BRIGHTNESS}, console=QUIET)
    (photographs,) = measure._finetunings(others)
    assert photographs.trains == (BRIGHTNESS, BRIGHTNESS)
    assert photographs.dependencies()["protocol"]["data"]["fraction"] == 0.1
    metrics = measure.compute(run, others)
    assert set(metrics) == {"finetuned"} and 0 <= metrics["finetuned"] <= 100
    assert len(short) == 2
