"""YOLO folders: small ones, and real scenes."""

import tarfile
from pathlib import Path

import numpy as np
import pytest

from tests.data.images import write_mask, write_tree
from tests.real_data import real_data
from unshortcut.data.open import open_data, splits
from unshortcut.data.source import Annotated
from unshortcut.errors import UsageError


def write(root: Path, labels: dict[str, str]) -> Path:
    """Images of 8 × 6 pixels, `c` of them without a label file."""
    write_tree(root / "images" / "train", ["a.png", "b.png", "c.png"])
    write_tree(root / "images" / "val", ["d.png"])
    (root / "labels" / "train").mkdir(parents=True)
    for name, text in labels.items():
        (root / "labels" / "train" / f"{name}.txt").write_text(text)
    (root / "data.yaml").write_text("path: .\ntrain: images/train\nnames: [cat, dog]\n")
    return root


def test_boxes_polygons_and_images_without_objects(tmp_path: Path) -> None:
    root = write(tmp_path, {"a": "1 0.5 0.5 0.5 1\n\n0 0.25 0 0.5 0 0.5 0.5 0.25 0.5\n", "b": ""})
    assert splits(root) == ("train", "val")
    source = open_data(root)
    assert source.box_classes == ("cat", "dog") and source.left_out == ()
    a, b, c = (source.regions(index) for index in range(3))
    assert a.boxes is not None and a.boxes.tolist() == [[2, 0, 6, 6], [2, 0, 4, 3]]
    assert a.box_labels is not None and a.box_labels.tolist() == [1, 0]
    for empty in (b, c):
        assert empty.boxes is not None and empty.boxes.shape == (0, 4)
    assert source.multilabels is not None
    assert source.multilabels.values.tolist() == [[1, 1], [0, 0], [0, 0]]
    assert len(open_data(root, split="val")) == 1


def test_lines_that_cannot_be_used_are_listed(tmp_path: Path) -> None:
    text = "1 0.5 0.5 0.5 1\n7 0.5 0.5 0.5 1\n0 2 2 0.1 0.1\n0 0.5 0.5 0 1\n0 0.5 0.5 0."
    source = open_data(write(tmp_path, {"a": text}))
    reasons = [(one.identity, one.reason) for one in source.left_out]
    expected = ("class '7'", "outside the image", "no area", "line 5 of its labels is not")
    for (identity, reason), part in zip(reasons, expected, strict=True):
        assert identity == "images/train/a.png" and part in reason
    (tmp_path / "labels" / "train" / "b.txt").write_bytes(b"\xff\xfe\x00")
    source = open_data(tmp_path)
    assert [source.identity(index) for index in range(len(source))] == [
        "images/train/a.png",
        "images/train/c.png",
    ]
    assert "its labels cannot be read" in source.left_out[-1].reason


def test_folders_by_split_first_are_read_too(tmp_path: Path) -> None:
    write_tree(tmp_path, ["train/images/a.png", "valid/images/b.png"])
    for split in ("train", "valid"):
        (tmp_path / split / "labels").mkdir()
    (tmp_path / "valid" / "labels" / "b.txt").write_text("0 0.5 0.5 1 1")
    (tmp_path / "data.yaml").write_text("names: {0: cat}")
    assert splits(tmp_path) == ("train", "val")
    boxes = open_data(tmp_path, split="val").regions(0).boxes
    assert boxes is not None and boxes.tolist() == [[0, 0, 8, 6]]


def test_masks_skip_ids_and_do_not_count_unlabeled_pixels(tmp_path: Path) -> None:
    root = write(tmp_path, {"a": "1 0.5 0.5 0.5 1"})
    (root / "classes-masks.yaml").write_text("classes: {0: unlabeled, 3: sky, 9: sea}")
    write_mask(root / "masks" / "train" / "b.png", [[0, 3, 9] + [3] * 5] * 6)
    assert splits(root) == ("train", "val", "train-segmentation")
    assert open_data(root).mask_classes is None
    source = open_data(root, split="train-segmentation")
    assert source.mask_classes == ("sky", "sea")
    mask = Annotated(source).image(0).regions.mask
    assert mask is not None and mask[0].tolist() == [255, 0, 1] + [0] * 5


def test_a_folder_that_is_not_yolo_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no folder images/"):
        open_data(f"yolo:{tmp_path}")
    root = write(tmp_path, {"a": "1 0.5 0.5 0.5 1"})
    (root / "data.yaml").unlink()
    with pytest.raises(UsageError, match=r"no data\.yaml with the names"):
        open_data(f"yolo:{root}")


def test_real_scenes_have_the_boxes_and_masks_of_their_files(tmp_path: Path) -> None:
    with tarfile.open(real_data("coco128.tar")) as archive:
        archive.extractall(tmp_path, filter="data")
    lines = sum(len(path.read_text().split("\n")) for path in tmp_path.glob("labels/*/*.txt"))
    lines -= sum(path.read_text().endswith("\n") for path in tmp_path.glob("labels/*/*.txt"))
    assert splits(tmp_path) == ("train", "val", "train-segmentation", "val-segmentation")
    sources = {split: open_data(tmp_path, split=split) for split in splits(tmp_path)}
    assert [len(source) for source in sources.values()] == [128, 128, 100, 100]
    assert all(source.left_out == () for source in sources.values())
    found = [sources[split].regions(i) for split in ("train", "val") for i in range(128)]
    assert sum(len(one.boxes) for one in found if one.boxes is not None) == lines
    assert sum(one.boxes is not None and not len(one.boxes) for one in found) == 2
    masked = sources["train-segmentation"]
    assert masked.mask_classes is not None and "unlabeled" not in masked.mask_classes
    person = masked.mask_classes.index("person")
    shown = masked.multilabels
    assert shown is not None
    agree = []
    for index in range(40):
        mask = Annotated(masked).image(index).regions.mask
        assert mask is not None and set(np.unique(mask)) <= {*range(len(masked.mask_classes)), 255}
        agree.append((mask == person).any() == bool(shown.values[index, 0]))
    assert np.mean(agree) > 0.9  # small persons vanish in one of the two
