"""Data of one's own: folders of masks, labels and boxes in CSV files, and pets with all of them."""

import tarfile
from pathlib import Path

import numpy as np
import pytest

from tests.data.images import png, write_mask, write_tree
from tests.real_data import real_data
from unshortcut.data.open import open_data, splits
from unshortcut.data.source import Annotated
from unshortcut.errors import UsageError


def masked(root: Path, names: list[str], ids: list[int]) -> Path:
    write_tree(root / "images", [f"{name}.jpg" for name in names])
    for name in names:
        write_mask(root / "masks" / f"{name}.png", [ids] * 6)
    return root


def test_ids_of_masks_are_found_or_named(tmp_path: Path) -> None:
    root = masked(tmp_path, ["a", "b"], [0, 4, 4, 255, 9, 9, 0, 0])
    assert splits(root) == ("all",)
    source = open_data(root)
    assert source.mask_classes == ("0", "4", "9")
    before = source.fingerprint()
    (root / "classes.yaml").write_text("names: {0: floor, 4: void, 9: cup}")
    source = open_data(root)
    assert source.mask_classes == ("floor", "cup") and source.fingerprint() != before
    mask = Annotated(source).image(1).regions.mask
    assert mask is not None and mask[5].tolist() == [0, 255, 255, 255, 1, 1, 0, 0]


def test_splits_of_masks_and_images_without_a_mask(tmp_path: Path) -> None:
    root = masked(tmp_path, ["train/a", "train/b", "val/c"], [0, 1] * 4)
    (root / "masks" / "train" / "b.png").unlink()
    assert splits(root) == ("train", "val")
    source = open_data(f"masks:{root}@train")
    assert [source.identity(index) for index in range(len(source))] == ["images/train/a.jpg"]
    assert source.left_out == (("images/train/b.jpg", "it has no mask"),)


def test_masks_of_black_and_white_ask_for_names(tmp_path: Path) -> None:
    root = masked(tmp_path, ["a"], [0, 255] * 4)
    with pytest.raises(UsageError, match=r"masks need two classes, but their ids are \[0, 255\]"):
        open_data(root)
    (root / "classes.txt").write_text("0 background\n255 cat\n")
    mask = open_data(root).regions(0).mask
    assert mask is not None and mask[0].tolist() == [0, 1] * 4


def test_several_labels_in_one_column(tmp_path: Path) -> None:
    write_tree(tmp_path, ["train/a.png", "train/b.png", "val/c.png"])
    text = "image,labels\ntrain/a.png,cat;dog\ntrain/b.png,\nval/c.png,dog | owl\n"
    (tmp_path / "labels.csv").write_text(text + "val/d.p")
    assert splits(tmp_path) == ("train", "val")
    train, val = open_data(tmp_path), open_data(tmp_path, split="val")
    assert train.multilabels is not None and val.multilabels is not None
    assert train.multilabels.classes == val.multilabels.classes == ("cat", "dog", "owl")
    assert train.multilabels.values.tolist() == [[1, 1, 0], [0, 0, 0]]
    assert val.multilabels.values[0].tolist() == [0, 1, 1]
    assert train.left_out == (("labels.csv line 5", "the row is cut off"),)
    (tmp_path / "classes.txt").write_text("dog\ncat\n")
    val = open_data(tmp_path, split="val")
    assert val.multilabels is not None and val.multilabels.values[0].tolist() == [1, 0]
    assert ("val/c.png", "the unknown class 'owl'") in val.left_out


def test_a_column_for_each_class_and_a_column_of_splits(tmp_path: Path) -> None:
    write_tree(tmp_path / "images", ["a.png", "b.png", "c.png"])
    rows = ("image,split,cat,dog", "a.png,test,1,-1", "b.png,train,0,1", "c.png,train,2,0")
    (tmp_path / "labels.csv").write_text("\n".join(rows))
    assert splits(f"csv:{tmp_path}") == ("train", "test")
    train = open_data(f"csv:{tmp_path}@train")
    assert train.identity(0) == "images/b.png" and train.image(0).height == 6
    assert train.multilabels is not None
    assert train.multilabels.values.tolist() == [[0, 1], [-1, -1]]
    ((identity, reason),) = train.left_out
    assert identity == "images/c.png" and "'2', which is not 1, 0 or -1" in reason


def test_boxes_in_pixels(tmp_path: Path) -> None:
    write_tree(tmp_path, ["a.png", "b.png"])
    rows = ("a.png,dog,1,2,30,4", "b.png,,,,,", "a.png,cat,0,0,2,2", "a.png,cat,9,0,12,2")
    (tmp_path / "boxes.csv").write_text("image,class,x0,y0,x1,y1\n" + "\n".join(rows))
    source = open_data(tmp_path)
    assert len(source) == 2 and source.box_classes == ("cat", "dog")
    first, second = source.regions(0), source.regions(1)
    assert first.boxes is not None and first.boxes.tolist() == [[1, 2, 8, 4], [0, 0, 2, 2]]
    assert second.boxes is not None and second.boxes.shape == (0, 4)
    assert [one.reason for one in source.left_out] == [
        "a box of 'cat' is outside the image: 9, 0, 12, 2"
    ]
    assert source.multilabels is not None
    assert source.multilabels.values.tolist() == [[1, 1], [0, 0]]
    before = source.fingerprint()
    (tmp_path / "boxes.csv").write_text("image,class,x0,y0,x1,y1\n" + "\n".join(rows[:2]))
    assert open_data(tmp_path).fingerprint() != before


def test_the_last_row_of_a_file_that_is_cut_off_adds_no_class(tmp_path: Path) -> None:
    write_tree(tmp_path, ["a.png"])
    rows = ("image,class,x0,y0,x1,y1", "a.png,cat,0,0,2,2", "a.png,ca")
    (tmp_path / "boxes.csv").write_text("\n".join(rows))
    source = open_data(tmp_path)
    assert source.box_classes == ("cat",)
    assert source.left_out == (("boxes.csv line 3", "the row is cut off"),)


def pets(root: Path) -> Path:
    for name, value in (
        ("train/pug/p_1.jpg", 1),
        ("train/lynx/l_1.jpg", 2),
        ("val/pug/p_2.jpg", 3),
    ):
        path = root / name
        path.parent.mkdir(parents=True)
        path.write_bytes(png(value))
        write_mask(root / "masks" / f"{path.stem}.png", [[1, 2, 3, 3, 3, 3, 3, 3]] * 6)
    rows = ("train/pug/p_1.jpg,pug,dog,1,1,4,4", "val/pug/p_2.jpg,pug,dog,0,0,9.5,5")
    (root / "heads.csv").write_text("image,breed,species,x0,y0,x1,y1\n" + "\n".join(rows))
    return root


def test_pets_have_breeds_heads_and_masks(tmp_path: Path) -> None:
    root = pets(tmp_path)
    assert splits(root) == ("train", "val")
    source = open_data(root, split="val")
    assert source.classes == ("lynx", "pug")
    assert source.labels is not None and source.labels.tolist() == [1]
    assert (source.box_classes, source.mask_classes) == (("cat", "dog"), ("background", "animal"))
    regions = Annotated(source).image(0).regions
    assert regions.boxes is not None and regions.boxes.tolist() == [[0, 0, 8, 5]]
    assert regions.box_labels is not None and regions.box_labels.tolist() == [1]
    assert regions.mask is not None and regions.mask[0, :3].tolist() == [1, 0, 255]
    train = open_data(root)
    assert [train.identity(index) for index in range(len(train))] == ["train/pug/p_1.jpg"]
    assert train.left_out == (("train/lynx/l_1.jpg", "heads.csv has no box of it"),)


def test_real_pets_open_with_all_annotations(tmp_path: Path) -> None:
    with tarfile.open(real_data("pets.tar")) as archive:
        members = [one for one in archive if not one.name.startswith("train")]
        archive.extractall(tmp_path, members, filter="data")
    source = open_data(f"oxford-pets:{tmp_path}@val")
    assert len(source) == 733 and source.classes is not None and len(source.classes) == 37
    assert source.left_out == () and source.box_classes == ("cat", "dog")
    species = {source.classes[source.labels[i]] for i in range(733) if source.labels is not None}
    assert len(species) == 37
    inside = []
    for index in range(0, 733, 40):
        regions = Annotated(source).image(index).regions
        assert regions.boxes is not None and regions.mask is not None and len(regions.boxes) == 1
        x0, y0, x1, y1 = regions.boxes[0].round().astype(int)
        inside.append((regions.mask[y0:y1, x0:x1] == 1).mean() - (regions.mask == 1).mean())
    assert np.mean(inside) > 0.1  # a head is animal more often than the rest of the image


def test_a_file_of_that_name_that_is_no_table_of_ours_changes_nothing(tmp_path: Path) -> None:
    write_tree(tmp_path, ["cat/a.png", "dog/b.png"])
    for content in (b"id,breed\na,pug\n", b"image,label\xff\n", b""):
        (tmp_path / "labels.csv").write_bytes(content)
        assert open_data(tmp_path).classes == ("cat", "dog")
    with pytest.raises(UsageError, match=r"labels\.csv has no column 'image'|lists images"):
        open_data(f"csv:{tmp_path}")
