"""Subsets by rule: the largest that fulfills both conditions, opened in place of the data."""

import json
from itertools import chain, combinations
from pathlib import Path

import numpy as np
import pytest

from tests.data.images import write_tree
from tests.data.layouts.test_openimages import COLUMNS, row
from unshortcut.build.inputs import open_inputs
from unshortcut.cli.main import main
from unshortcut.data.open import open_data, splits
from unshortcut.data.subsets import largest_subset, make_subset
from unshortcut.errors import UsageError

WHOLE = (0.0, 1.0, 0.0, 1.0)
NAMES = {"/m/1": "Cat", "/m/2": "Dog", "/m/3": "Bat"}
TRAIN = {"aa": (1, 2), "bb": (1, 2), "cc": (2, 3), "dd": (1,), "ee": (1, 2, 3)}
TEST = {"ff": (1, 2), "gg": (2, 3), "hh": (3, 1, 2)}


def write_openimages(root: Path) -> Path:
    for split, shown in (("train", TRAIN), ("test", TEST)):
        write_tree(root, [f"{split}/{image}.png" for image in shown])
        rows = [row(image, f"/m/{one}", WHOLE) for image, many in shown.items() for one in many]
        (root / f"{split}-annotations-bbox.csv").write_text("\n".join((COLUMNS, *rows)))
    names = "".join(f"{one},{name}\n" for one, name in NAMES.items())
    (root / "class-descriptions-boxable.csv").write_text(names)
    return root


def identities(where: str | Path, split: str) -> list[str]:
    source = open_data(where, split=split)
    return [source.identity(index) for index in range(len(source))]


@pytest.mark.parametrize("seed", range(6))
def test_no_larger_subset_fulfills_both_conditions(seed: int) -> None:
    shown = np.random.default_rng(seed).random((9, 5)) < 0.45
    images, classes = largest_subset(shown, 2, 3)
    part = shown[np.ix_(images, classes)]
    assert (part.sum(axis=1) >= 2).all() and (part.sum(axis=0) >= 3).all()
    # Any other set of classes, with the images that have two of them, breaks a rule or is smaller.
    every = chain.from_iterable(combinations(range(5), n) for n in range(1, 6))
    for chosen in map(list, every):
        enough = shown[:, chosen].sum(axis=1) >= 2
        if enough.any() and (shown[np.ix_(enough, chosen)].sum(axis=0) >= 3).all():
            assert set(chosen) <= set(np.flatnonzero(classes)) and not (enough & ~images).any()


def test_one_condition_undoes_the_other_until_nothing_changes() -> None:
    # Class 2 is rare, without it the last image has one class, and then class 1 is rare too.
    shown = np.array([[1, 1, 0, 0], [1, 0, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0]], dtype=bool)
    images, classes = largest_subset(shown, 2, 2)
    assert images.tolist() == [False, True, True, False]
    assert classes.tolist() == [True, False, False, True]


def test_a_subset_of_open_images_has_its_images_classes_and_boxes(tmp_path: Path) -> None:
    root = write_openimages(tmp_path / "openimages")
    made = make_subset(f"openimages:{root}", tmp_path / "multi", min_images=3)
    assert made.images == {"train": 3, "test": 2} and made.classes == 2
    assert splits(made.folder) == ("train", "test")
    assert identities(made.folder, "train") == ["train/aa.png", "train/bb.png", "train/ee.png"]
    assert identities(made.folder, "test") == ["test/ff.png", "test/hh.png"]
    source = open_data(made.folder)
    assert source.multilabels is not None and source.multilabels.classes == ("Cat", "Dog")
    assert source.box_classes == ("Cat", "Dog") and source.multilabels.values.all()
    regions = source.regions(2)
    assert regions.box_labels is not None and regions.box_labels.tolist() == [0, 1], "no bat"
    assert source.fingerprint() != open_data(f"openimages:{root}").fingerprint()
    assert len(open_inputs(made.folder)) == 5, "proposals are made for its images alone"


def test_the_command_may_be_repeated_and_writes_what_it_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = write_openimages(tmp_path / "openimages")
    out, report = tmp_path / "multi", tmp_path / "report.json"
    words = ["subset", str(root), "--out", str(out), "--min-images", "3", "--json", str(report)]
    for _ in range(2):
        with pytest.raises(SystemExit) as stopped:
            main(words)
        assert stopped.value.code == 0
    assert "3 images of train, 2 images of test, 2 classes" in capsys.readouterr().out
    metrics = json.loads(report.read_text())["metrics"]
    assert metrics == {"images_train": 3, "images_test": 2, "classes": 2}
    assert str(tmp_path) not in report.read_text()


def test_a_published_list_may_take_the_place_of_ours(tmp_path: Path) -> None:
    root = write_openimages(tmp_path / "openimages")
    made = make_subset(root, tmp_path / "multi", min_images=3)
    (made.folder / "test.txt").write_text("gg\nnowhere\nhh\n")
    assert identities(made.folder, "test") == ["test/gg.png", "test/hh.png"]
    (missing,) = open_data(made.folder, split="test").left_out
    assert missing.identity == "nowhere" and "not in the data" in missing.reason
    (made.folder / "test.txt").write_text("nowhere\n")
    with pytest.raises(UsageError, match=r"none of the 1 images of test.txt is in"):
        open_data(made.folder, split="test")


def test_what_cannot_be_is_one_sentence_and_nothing_is_written(tmp_path: Path) -> None:
    root, out = write_openimages(tmp_path / "openimages"), tmp_path / "multi"
    with pytest.raises(UsageError, match=r"no part of the 5 images .* 900 images of every class"):
        make_subset(root, out)
    with pytest.raises(UsageError, match="min_classes must be at least 1, not 0"):
        make_subset(root, out, min_classes=0)
    with pytest.raises(UsageError, match="must say which classes each image shows"):
        make_subset("shapes", out)
    assert not out.exists()
    with pytest.raises(UsageError, match="contains other files"):
        make_subset(root, root, min_images=3)
    made = make_subset(root, out, min_images=3)
    root.rename(tmp_path / "moved")
    with pytest.raises(UsageError, match=r"multi is a subset of '.*openimages': no such folder"):
        open_data(made.folder)
    (made.folder / "subset.json").write_text("{}")
    with pytest.raises(UsageError, match="must state 'data' and 'splits'"):
        open_data(made.folder)
