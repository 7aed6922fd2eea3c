"""The data of fine-tuning: what is held out, what is used of it, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from tests.data.images import write_mask, write_tree
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.transfer.data import TaskData, open_task_data
from unshortcut.transfer.protocol import load_protocol

QUIET = Console(quiet=True)
TRAIN = Shapes("train", size=16, count=80)


def opened(data: object, *sets: str, task: str = "classify", tests: Any = ()) -> TaskData:
    views = {"size": 16, "augmentations": []}
    protocol = {"task": {"name": task}, "views": views, "schedule": {"steps": 1}}
    return open_task_data(load_protocol(protocol, sets), data, tests, QUIET)  # type: ignore[arg-type]


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


@pytest.mark.parametrize(
    ("split", "tests", "held_out"),
    [("train+val", "test", 4), ("train", "test", 0), ("train", None, 2)],
)
def test_no_image_is_used_twice_whatever_the_spelling(
    split: str, tests: str | None, held_out: int, tmp_path: Path
) -> None:
    names = [f"{s}/{c}/{i}.png" for s in ("train", "val", "test") for c in "ab" for i in range(10)]
    write_tree(tmp_path, names)
    on = [] if tests else [f"{tmp_path}/../{tmp_path.name}@val"]
    data = opened(f"{tmp_path}@{split}", "data.validation=0.1", tests=on)
    assert list(data.tests) == [tests or "val"]
    used = [data.train, *data.tests.values(), *([data.validation] if data.validation else [])]
    identities = [one.identity(i) for one in used for i in range(len(one))]
    assert len(set(identities)) == len(identities)
    assert data.validation is not None
    assert len(data.validation) == (held_out or 20)


def test_training_images_are_no_test_data(tmp_path: Path) -> None:
    write_tree(tmp_path, [f"{c}/{i}.png" for c in "ab" for i in range(4)])
    with pytest.raises(UsageError, match=r"the test data '.*' are the training data"):
        opened(str(tmp_path), tests=[tmp_path])


def test_the_year_in_the_name_of_a_split_stays(tmp_path: Path) -> None:
    for split in ("train2014", "val2014", "train2017", "val2017"):
        write_tree(tmp_path, [f"images/{split}/{i}.png" for i in range(4)])
        for i in range(4):
            write_mask(tmp_path / "masks" / split / f"{i}.png", [[0, 1] * 4] * 6)
    data = opened(f"{tmp_path}@train2017", "data.validation=0.25", task="segment")
    assert list(data.tests) == ["val2017"] and len(data.train) == 3


def test_the_use_of_all_images_is_told() -> None:
    tests = {"t": Shapes("test", size=16, count=8)}
    told = opened(TRAIN, "data.validation=0.3", tests=tests).summary()
    assert told == (
        "images: 56 to train on (8 classes), 24 to choose the best weights on, 8 (t) to test on"
    )
    told = opened(TRAIN, "data.validation=0").summary()
    assert told.endswith("the last ones are the result, none to test on (--on DATA gives some)")


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
