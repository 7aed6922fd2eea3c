"""Shards in webdataset's convention: keys, labels, and random access over many files."""

import json
from pathlib import Path

import pytest

from tests.data.images import png, write_tar
from unshortcut.data.open import open_data, splits
from unshortcut.data.shards import expand
from unshortcut.errors import UsageError


def test_ranges_expand_as_in_a_shell() -> None:
    assert [str(p) for p in expand("s/{08..11}.tar")] == [
        f"s/{n}.tar" for n in ("08", "09", "10", "11")
    ]
    assert [str(p) for p in expand("{0..1}/x-{1..2}.tar")] == [
        "0/x-1.tar",
        "0/x-2.tar",
        "1/x-1.tar",
        "1/x-2.tar",
    ]
    with pytest.raises(UsageError, match="runs backwards"):
        expand("{3..1}.tar")
    with pytest.raises(UsageError, match="more than 1000000 files"):
        expand("{0..9999999999}.tar")


def test_samples_are_members_with_one_key_and_labels_come_from_cls(tmp_path: Path) -> None:
    members = [("a/0001", 1, 2), ("a/0002", 2, 0), ("b/0001", 3, 1)]
    for shard, chosen in enumerate((members[:2], members[2:])):
        files = {}
        for key, value, label in chosen:
            files |= {f"{key}.cls": str(label).encode(), f"{key}.png": png(value)}
            files[f"{key}.seg.png"] = png(200)
        write_tar(tmp_path / f"train-{shard:03d}.tar", files)
    source = open_data(f"{tmp_path}/train-{{000..001}}.tar")
    assert [int(source.image(i).pixels()[0, 0, 0]) for i in (2, 0, 1)] == [3, 1, 2]
    assert source.labels is not None
    assert source.labels.tolist() == [2, 0, 1]
    assert source.classes == ("0", "1", "2")
    assert source.identity(2) == "train-001.tar/b/0001.png"
    assert splits(f"{tmp_path}/train-{{000..001}}.tar") == ()


def test_labels_in_json_may_be_names(tmp_path: Path) -> None:
    files = {}
    for key, label in (("1", "dog"), ("2", "cat")):
        files |= {f"{key}.png": png(1), f"{key}.json": json.dumps({"label": label}).encode()}
    write_tar(tmp_path / "0.tar", files)
    source = open_data(f"{tmp_path}/{{0..0}}.tar")
    assert source.classes == ("cat", "dog")
    assert source.labels is not None
    assert source.labels.tolist() == [1, 0]


def test_a_single_tar_file_with_cls_members_is_a_shard(tmp_path: Path) -> None:
    path = write_tar(tmp_path / "one.tar", {"1.png": png(1), "1.cls": b"7\n"})
    source = open_data(path)
    assert source.labels is not None
    assert source.labels.tolist() == [7]


def test_shards_without_labels_are_unlabeled(tmp_path: Path) -> None:
    write_tar(tmp_path / "0.tar", {"1.png": png(1), "1.json": b'{"caption": "a dog"}'})
    assert open_data(f"{tmp_path}/{{0..0}}.tar").labels is None


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"1.png": png(1), "1.cls": b"dog"}, "0.tar/1.cls is not a label"),
        ({"1.png": png(1), "1.cls": b"-1"}, "must be from 0 to"),
        ({"1.png": png(1), "1.cls": b"99999999999"}, "must be from 0 to"),
        ({"1.png": png(1), "1.json": b"[" * 100_000}, "0.tar/1.json is not a label"),
        ({"1.png": png(1), "1.json": b'{"label": [1]}'}, "neither a number nor a name"),
        ({"1.png": png(1), "1.cls": b"1", "2.png": png(1)}, "no label, such as 2.png"),
        ({"1.txt": b"words"}, "no images in the shards"),
    ],
)
def test_bad_labels_are_named(tmp_path: Path, files: dict[str, bytes], words: str) -> None:
    write_tar(tmp_path / "0.tar", files)
    with pytest.raises(UsageError) as caught:
        open_data(f"{tmp_path}/{{0..0}}.tar")
    assert words in str(caught.value)


def test_a_missing_shard_is_named_and_shards_have_no_splits(tmp_path: Path) -> None:
    write_tar(tmp_path / "0.tar", {"1.png": png(1)})
    with pytest.raises(UsageError, match=r"no such shard: .*/1\.tar"):
        open_data(f"{tmp_path}/{{0..1}}.tar")
    with pytest.raises(UsageError, match="shards have no splits"):
        open_data(f"{tmp_path}/{{0..0}}.tar@val")
