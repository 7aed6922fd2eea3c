"""Copies of a data set: found by the identity of the original, in folders, tar files and shards."""

import io
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from tests.data.images import write_tar
from unshortcut.data.copies import CopiedSource, copy_name, open_copy, with_filtered_copy
from unshortcut.data.open import open_data
from unshortcut.data.scan import scan
from unshortcut.data.shapes import Shapes
from unshortcut.data.source import BadImageError, Joined, Subset
from unshortcut.errors import UsageError


def encoded(level: int, kind: str = "PNG") -> bytes:
    stream = io.BytesIO()
    PIL.Image.fromarray(np.full((6, 8, 3), level, np.uint8)).save(stream, kind)
    return stream.getvalue()


def write(root: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    return root


ORIGINAL = {
    "train/a/1.png": encoded(10),
    "train/a/2.bmp": encoded(20, "BMP"),
    "train/b/3.jpg": encoded(30, "JPEG"),
    "val/b/4.png": encoded(40),
}
COPY = {
    "train/a/1.png": encoded(110),
    "train/a/2.bmp.png": encoded(120),
    "train/b/3.jpg": encoded(130, "JPEG"),
    "val/b/4.png": encoded(140),
}


def test_a_copy_keeps_its_name_unless_the_ending_would_lie() -> None:
    names = ["1.JPG", "1.jpeg", "1.png", "1.webp", "folder.x/plain"]
    assert [copy_name(name, "jpeg") for name in names] == [
        "1.JPG",
        "1.jpeg",
        "1.png.jpg",
        "1.webp.jpg",
        "folder.x/plain.jpg",
    ]
    assert copy_name("1.png", "png") == "1.png"


@pytest.mark.parametrize("kind", ["folder", "tar"])
def test_the_copies_of_all_splits_are_found_in_the_order_of_the_originals(
    tmp_path: Path, kind: str
) -> None:
    root = write(tmp_path / "photos", ORIGINAL)
    if kind == "folder":
        where = write(tmp_path / "filtered", COPY)
    else:
        where = write_tar(tmp_path / "filtered.tar", COPY)
    for split, levels in {"train": [110, 120, 130], "val": [140]}.items():
        source = open_data(root, split=split)
        copies = CopiedSource(source, open_copy(str(where)))
        found = [round(copies.image(i).pixels().mean()) for i in range(len(copies))]
        assert found == levels
        assert copies.classes == source.classes == ("a", "b")
        assert copies.labels is source.labels


def test_the_copies_of_shards_are_found_in_the_shard_of_the_same_name(tmp_path: Path) -> None:
    for folder, base, kind in (("in", 0, "bmp"), ("out", 100, "png")):
        (tmp_path / folder).mkdir()
        for shard in range(2):
            path = tmp_path / folder / f"s-{shard}.tar"
            write_tar(path, {f"x.{kind}": encoded(base + shard, kind), "x.cls": b"1"})
    source = open_data(str(tmp_path / "in" / "s-{0..1}.tar"))
    copies = CopiedSource(source, open_copy(str(tmp_path / "out" / "s-{0..1}.tar")))
    assert [int(copies.image(i).pixels().max()) for i in range(2)] == [100, 101]
    single = CopiedSource(
        open_data(str(tmp_path / "in" / "s-1.tar")), open_copy(str(tmp_path / "out" / "s-1.tar"))
    )
    assert int(single.image(0).pixels().max()) == 101


def test_a_source_with_its_copy_has_the_images_then_the_copies_with_the_same_labels(
    tmp_path: Path,
) -> None:
    source = open_data(write(tmp_path / "photos", ORIGINAL))
    both = with_filtered_copy(source, str(write(tmp_path / "filtered", COPY)))
    assert source.labels is not None and both.labels is not None
    levels = [round(both.image(i).pixels().mean()) for i in range(len(both))]
    assert levels == [10, 20, 30, 110, 120, 130]
    assert both.labels.tolist() == [*source.labels, *source.labels]
    assert both.classes == source.classes
    assert both.identity(3) == "filtered/train/a/1.png"
    with pytest.raises(IndexError):
        both.image(6)


def test_a_missing_or_broken_copy_is_found_by_the_scan_with_a_reason(tmp_path: Path) -> None:
    source = open_data(write(tmp_path / "photos", ORIGINAL))
    copies = dict(COPY)
    del copies["train/a/2.bmp.png"]
    copies["train/b/3.jpg"] = b"\xff\xd8\xff broken"
    both = with_filtered_copy(source, str(write(tmp_path / "filtered", copies)))
    report = scan(both, seed=0)
    assert report.bad_indices.tolist() == [4, 5]
    assert report.bad[0].reason == "it has no copy in filtered"
    assert report.bad[0].identity == "filtered/train/a/2.bmp"


def test_the_fingerprint_changes_with_the_copy(tmp_path: Path) -> None:
    source = open_data(write(tmp_path / "photos", ORIGINAL))
    root = write(tmp_path / "filtered", COPY)
    before = with_filtered_copy(source, str(root)).fingerprint()
    assert before == with_filtered_copy(source, str(root)).fingerprint() != source.fingerprint()
    (root / "train/a/1.png").write_bytes(encoded(7, "BMP"))
    assert with_filtered_copy(source, str(root)).fingerprint() != before


def test_a_place_without_a_copy_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no copy of a data set at"):
        open_copy(str(tmp_path / "nowhere"))
    with pytest.raises(UsageError, match="path is not given"):
        open_copy("")
    with pytest.raises(BadImageError, match="no copy in"):
        open_copy(str(tmp_path)).image("a.png")


def test_joined_sources_without_labels_in_one_have_none() -> None:
    labeled = Shapes("test", size=16, count=3)
    unlabeled = Subset(labeled, np.arange(2))
    unlabeled.labels = None
    joined = Joined(labeled, unlabeled)
    assert (len(joined), joined.labels) == (5, None)
    assert np.array_equal(joined.image(4).pixels(), labeled.image(1).pixels())
    assert not joined.has_headers
