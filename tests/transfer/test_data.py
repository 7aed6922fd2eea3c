"""The data of fine-tuning: what is held out, what is used of it, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from tests.data.images import write_tree
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.transfer.data import TaskData, open_task_data
from unshortcut.transfer.protocol import load_protocol

QUIET = Console(quiet=True)
TRAIN = Shapes("train", size=16, count=80)


def opened(data: object, *sets: str, task: str = "classify") -> TaskData:
    views = {"size": 16, "augmentations": []}
    protocol = {"task": {"name": task}, "views": views, "schedule": {"steps": 1}}
    return open_task_data(load_protocol(protocol, sets), data, (), QUIET)  # type: ignore[arg-type]


def test_a_share_of_each_class_is_held_out_and_never_trained_on() -> None:
    data = opened(TRAIN, "data.validation=0.3")
    assert data.validation is not None
    trained = {data.train.identity(i) for i in range(len(data.train))}
    held = {data.validation.identity(i) for i in range(len(data.validation))}
    assert len(trained) == 56 and len(held) == 24 and not trained & held
    assert data.validation.labels is not None
    assert np.bincount(data.validation.labels).tolist() == [3] * 8


def test_splits_of_the_data_are_used_where_they_exist() -> None:
    data = opened("shapes@scene-train", task="segment")
    assert list(data.tests) == ["scene-test"]
    assert data.validation is not None
    assert data.validation.identity(0).startswith("scene-val/")
    assert data.classes[0] == "background"


def test_a_folder_without_a_test_split_is_tested_on_val_and_holds_out_training_images(
    tmp_path: Path,
) -> None:
    names = [f"{s}/{c}/{i}.png" for s in ("train", "val") for c in "ab" for i in range(10)]
    write_tree(tmp_path, names)
    data = opened(str(tmp_path), "data.validation=0.2")
    assert list(data.tests) == ["val"]
    assert (len(data.train), len(data.validation or ())) == (16, 4)


def test_nothing_is_chosen_if_nothing_is_held_out() -> None:
    data = opened(TRAIN, "data.validation=0")
    assert data.validation is None and len(data.train) == 80


def test_too_few_images_to_hold_any_out_are_all_trained_on() -> None:
    data = opened(Shapes("train", size=16, count=8))
    assert data.validation is None and len(data.train) == 8


def test_a_fraction_has_every_class_and_depends_on_its_seed() -> None:
    def kept(*sets: str) -> list[str]:
        train = opened(TRAIN, "data.validation=0", "data.fraction=0.01", *sets).train
        assert train.labels is not None and sorted(train.labels) == list(range(8))
        return [train.identity(i) for i in range(len(train))]

    assert kept() == kept() != kept("data.fraction_seed=1")


@pytest.mark.parametrize(
    ("data", "task", "message"),
    [
        (TRAIN, "detect", "task 'detect' needs annotated boxes, and the data have none"),
        (TRAIN, "segment", "task 'segment' needs masks, and the data have none"),
        (TRAIN, "multilabel", "task 'multilabel' needs"),
    ],
)
def test_data_without_what_a_task_needs_are_refused(data: Shapes, task: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        opened(data, task=task)


def test_a_folder_without_classes_is_refused_for_classification(tmp_path: Path) -> None:
    write_tree(tmp_path, ["1.png", "2.png"])
    with pytest.raises(UsageError, match="task 'classify' needs a label for each image"):
        opened(str(tmp_path))
