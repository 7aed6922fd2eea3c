"""What a user may write for DATA, and the errors for what is wrong."""

from pathlib import Path

import pytest

from tests.data.images import write_tree
from unshortcut.data.folder import open_folder
from unshortcut.data.open import DataSpec, open_data, splits
from unshortcut.errors import UsageError


def test_a_spec_is_taken_apart_at_its_last_at(tmp_path: Path) -> None:
    assert DataSpec.parse("shapes") == DataSpec("shapes", None)
    assert DataSpec.parse("shapes@conflict") == DataSpec("shapes", "conflict")
    assert DataSpec.parse("me@host/data@val") == DataSpec("me@host/data", "val")
    assert DataSpec.parse("me@host/data") == DataSpec("me@host/data", None)
    odd = tmp_path / "data@home"
    odd.mkdir()
    assert DataSpec.parse(odd) == DataSpec(str(odd), None)
    assert str(DataSpec.parse("shapes@val")) == "shapes@val"


def test_the_split_is_picked_by_the_spec_or_by_the_argument(tmp_path: Path) -> None:
    write_tree(tmp_path, ["train/a/1.png", "train/b/2.png", "test/a/3.png"])
    assert len(open_data(tmp_path)) == 2
    assert len(open_data(f"{tmp_path}@test")) == 1
    assert len(open_data(tmp_path, split="test")) == 1
    assert splits(tmp_path) == ("train", "test")
    assert splits(f"{tmp_path}@test") == ()
    with pytest.raises(UsageError, match="names a split, but the split 'train' is given as well"):
        open_data(f"{tmp_path}@test", split="train")


def test_splits_are_joined_by_a_plus(tmp_path: Path) -> None:
    write_tree(tmp_path, ["train/a/1.png", "train/b/2.png", "val/a/3.png", "test/b/4.png"])
    pool = open_data(f"{tmp_path}@train+val")
    names = ["train/a/1.png", "train/b/2.png", "val/a/3.png"]
    assert [pool.identity(index) for index in range(len(pool))] == names
    assert pool.classes == ("a", "b") and pool.labels is not None
    assert pool.labels.tolist() == [0, 1, 0]
    assert len(open_data(tmp_path, split="val+test")) == 2
    with pytest.raises(UsageError, match=r"unknown split of .* 'train\+vall'"):
        open_data(f"{tmp_path}@train+vall")
    with pytest.raises(UsageError, match="names a split twice"):
        open_data(f"{tmp_path}@val+val")


def test_a_source_is_returned_as_it_is(tmp_path: Path) -> None:
    write_tree(tmp_path, ["1.png"])
    source = open_folder(tmp_path)
    assert open_data(source) is source


def test_wrong_paths_get_one_clear_sentence(tmp_path: Path) -> None:
    empty, text = tmp_path / "empty", tmp_path / "words.txt"
    empty.mkdir()
    text.write_text("words")
    for spec, words in {
        str(tmp_path / "missing"): "no such folder or file: ",
        "missing.tar": "no such folder or file: missing.tar",
        str(text): "is a file, but neither a tar file nor a Parquet file",
        str(empty): "no images in the folder",
        f"{empty}@": "is not DATA@split",
    }.items():
        with pytest.raises(UsageError) as caught:
            open_data(spec)
        assert words in str(caught.value)
        assert "\n" not in str(caught.value)
