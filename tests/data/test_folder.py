"""Folders: what is an image, a class, a split; the same order everywhere."""

import os
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.data.images import png, write_tree
from unshortcut.data.folder import open_folder
from unshortcut.data.source import BadImageError
from unshortcut.errors import UsageError


def identities(source) -> list[str]:
    return [source.identity(i) for i in range(len(source))]


def test_images_are_sorted_by_the_bytes_of_their_paths(tmp_path: Path) -> None:
    write_tree(tmp_path, ["b/1.png", "a/2.png", "a/10.png", "B/1.png", "é/1.png"])
    assert identities(open_folder(tmp_path)) == [
        "B/1.png",
        "a/10.png",
        "a/2.png",
        "b/1.png",
        "é/1.png",
    ]


def test_class_folders_give_labels_and_deeper_files_belong_to_the_top_class(tmp_path: Path) -> None:
    values = write_tree(tmp_path, ["cat/1.png", "cat/young/2.png", "dog/3.png"])
    source = open_folder(tmp_path)
    assert source.classes == ("cat", "dog")
    assert source.labels is not None
    assert source.labels.tolist() == [0, 0, 1]
    for i, name in enumerate(identities(source)):
        assert (source.image(i).pixels() == values[name]).all()


@pytest.mark.parametrize(
    "names",
    [
        ["1.png", "2.png"],
        ["1.png", "cat/2.png", "dog/3.png"],
        ["photos/1.png", "photos/2.png"],
    ],
    ids=["flat", "mixed", "a single folder"],
)
def test_without_two_class_folders_there_are_no_labels(tmp_path: Path, names: list[str]) -> None:
    write_tree(tmp_path, names)
    source = open_folder(tmp_path)
    assert identities(source) == sorted(names)
    assert source.labels is None
    assert source.classes is None


def test_train_is_the_default_split_and_labels_mean_the_same_in_all(tmp_path: Path) -> None:
    write_tree(tmp_path, ["train/cat/1.png", "train/dog/2.png", "val/ape/4.png", "val/dog/3.png"])
    train, val = open_folder(tmp_path), open_folder(tmp_path, "val")
    assert identities(train) == ["train/cat/1.png", "train/dog/2.png"]
    assert identities(val) == ["val/ape/4.png", "val/dog/3.png"]
    assert train.classes == val.classes == ("ape", "cat", "dog")
    assert train.labels is not None
    assert val.labels is not None
    assert train.labels.tolist() == [1, 2]
    assert val.labels.tolist() == [0, 2]


def test_a_class_called_train_is_a_class(tmp_path: Path) -> None:
    write_tree(tmp_path, ["car/1.png", "train/2.png"])
    assert open_folder(tmp_path).classes == ("car", "train")


def test_any_top_folder_can_be_picked_by_name(tmp_path: Path) -> None:
    write_tree(tmp_path, ["photo/cat/1.png", "photo/dog/2.png", "sketch/dog/3.png"])
    sketch = open_folder(tmp_path, "sketch")
    assert identities(sketch) == ["sketch/dog/3.png"]
    assert sketch.classes == ("cat", "dog")
    assert sketch.labels is not None
    assert sketch.labels.tolist() == [1]


def test_valid_and_validation_are_val(tmp_path: Path) -> None:
    write_tree(tmp_path, ["train/cat/1.png", "valid/cat/2.png"])
    assert identities(open_folder(tmp_path, "val")) == ["valid/cat/2.png"]


def test_what_is_no_image_is_left_out_and_images_without_an_extension_are_not(
    tmp_path: Path,
) -> None:
    write_tree(tmp_path, ["a.png", ".hidden.png", ".git/b.png", "__MACOSX/a.png"])
    (tmp_path / "notes.txt").write_bytes(png(1))
    (tmp_path / "bare").write_bytes(png(1))
    (tmp_path / "LICENSE").write_text("words")
    os.mkfifo(tmp_path / "pipe.png")
    assert identities(open_folder(tmp_path)) == ["a.png", "bare"]


def test_links_are_followed_but_not_in_circles(tmp_path: Path) -> None:
    write_tree(tmp_path / "data", ["cat/1.png", "dog/2.png"])
    write_tree(tmp_path / "elsewhere", ["3.png"])
    (tmp_path / "data" / "cat" / "up").symlink_to(tmp_path / "data")
    (tmp_path / "data" / "emu").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "data" / "dog" / "gone.png").symlink_to(tmp_path / "nowhere.png")
    source = open_folder(tmp_path / "data")
    assert identities(source) == ["cat/1.png", "dog/2.png", "dog/gone.png", "emu/3.png"]
    with pytest.raises(BadImageError, match="cannot be read: No such file"):
        source.image(2)


def test_a_link_to_itself_is_an_unreadable_image_and_nothing_else(tmp_path: Path) -> None:
    write_tree(tmp_path, ["cat/1.png", "dog/2.png"])
    for name in ("loop.png", "loop.txt", "loop"):
        (tmp_path / "dog" / name).symlink_to(name)
    source = open_folder(tmp_path)
    assert identities(source) == ["cat/1.png", "dog/2.png", "dog/loop.png"]
    source.fingerprint()
    with pytest.raises(BadImageError, match="cannot be read: Too many levels"):
        source.image(2)


def test_a_name_that_is_not_text_can_be_read_and_reported(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe.png")).write_bytes(png(7))
    source = open_folder(tmp_path)
    assert (source.image(0).pixels() == 7).all()
    source.identity(0).encode()


def test_fingerprint_changes_with_the_content_and_survives_pickling(tmp_path: Path) -> None:
    write_tree(tmp_path, ["cat/1.png", "dog/2.png"])
    source = open_folder(tmp_path)
    first = source.fingerprint()
    copy = pickle.loads(pickle.dumps(source))
    assert copy.fingerprint() == first
    assert np.array_equal(copy.image(1).pixels(), source.image(1).pixels())
    (tmp_path / "dog" / "2.png").write_bytes(png(99, height=9))
    assert open_folder(tmp_path).fingerprint() != first
    (tmp_path / "dog" / "2.png").rename(tmp_path / "dog" / "3.png")
    assert open_folder(tmp_path).fingerprint() not in (first, source.fingerprint())


def test_the_fingerprint_is_that_of_a_copy_elsewhere_and_sees_changed_bytes(tmp_path: Path) -> None:
    write_tree(tmp_path / "data", ["cat/1.png", "dog/2.png"])
    copied = Path(shutil.copytree(tmp_path / "data", tmp_path / "scratch"))
    path = copied / "dog" / "2.png"
    os.utime(path, (0, 0))
    original = open_folder(tmp_path / "data").fingerprint()
    assert open_folder(copied).fingerprint() == original
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert open_folder(copied).fingerprint() != original, "of the same size, with one bit changed"


def test_an_empty_folder_and_an_unknown_split_are_usage_errors(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no images in the folder"):
        open_folder(tmp_path)
    write_tree(tmp_path, ["train/a/1.png", "train/b/1.png", "test/a/1.png"])
    with pytest.raises(UsageError, match=r"did you mean 'test'.*Known: test, train"):
        open_folder(tmp_path, "tests")
