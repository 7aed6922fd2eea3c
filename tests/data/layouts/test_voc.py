"""PASCAL VOC in small copies of its folders."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.data.images import write_mask, write_tree
from unshortcut.data.layouts.voc import CLASSES
from unshortcut.data.open import open_data, splits
from unshortcut.data.source import Annotated, BadImageError
from unshortcut.errors import UsageError

Objects = list[tuple[str, tuple[int, int, int, int], int]]


def annotation(objects: Objects, size: tuple[int, int] = (8, 6)) -> str:
    """The XML of an image of the given width and height; boxes count pixels from 1."""
    texts = [
        f"<object><name>{name}</name><difficult>{difficult}</difficult><part><bndbox><xmin>1</xmin>"
        f"</bndbox></part><bndbox><xmin>{x0}</xmin><ymin>{y0}</ymin><xmax>{x1}</xmax>"
        f"<ymax>{y1}</ymax></bndbox></object>"
        for name, (x0, y0, x1, y1), difficult in objects
    ]
    width, height = size
    stated = f"<size><width>{width}</width><height>{height}</height></size>"
    return f"<annotation>{stated}{''.join(texts)}</annotation>"


def write_year(root: Path, lists: dict[str, list[str]], objects: dict[str, Objects]) -> Path:
    write_tree(root / "JPEGImages", [f"{one}.jpg" for one in objects])
    (root / "Annotations").mkdir()
    for one, found in objects.items():
        (root / "Annotations" / f"{one}.xml").write_text(annotation(found))
    for name, ids in lists.items():
        path = root / "ImageSets" / f"{name}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{one}\n" for one in ids))
    return root


def devkit(root: Path) -> Path:
    """Two years: 2007 with a test set, 2012 with masks and a test list without annotations."""
    write_year(
        root / "VOC2007",
        {"Main/train": ["a"], "Main/trainval": ["a", "b"], "Main/test": ["c"]},
        {
            "a": [("cat", (1, 1, 8, 6), 0), ("dog", (2, 3, 4, 5), 1)],
            "b": [("dog", (2, 3, 4, 5), 0), ("dog", (1, 1, 2, 2), 1)],
            "c": [],
        },
    )
    write_year(
        root / "VOC2012",
        {"Main/trainval": ["x"], "Main/test": ["y"], "Segmentation/train": ["x"]},
        {"x": [("person", (1, 1, 4, 4), 0)]},
    )
    mask = np.zeros((6, 8), dtype=int)
    mask[1, 1], mask[2, 2] = 15, 255
    write_mask(root / "VOC2012" / "SegmentationClass" / "x.png", mask.tolist(), palette=True)
    return root


def test_years_are_joined_and_boxes_count_from_0(tmp_path: Path) -> None:
    root = devkit(tmp_path / "VOCdevkit")
    assert splits(root) == (
        *("train", "trainval", "test", "train-segmentation"),
        *("train-2007", "trainval-2007", "trainval-2012", "test-2007", "train-segmentation-2012"),
    )
    source = open_data(f"voc:{root}@trainval")
    names = [source.identity(index) for index in range(len(source))]
    assert names == [f"VOC2007/JPEGImages/{one}.jpg" for one in "ab"] + ["VOC2012/JPEGImages/x.jpg"]
    assert source.box_classes == CLASSES and source.mask_classes is None
    first = source.regions(0)
    assert first.boxes is not None and first.boxes.tolist() == [[0, 0, 8, 6], [1, 2, 4, 5]]
    assert first.ignored is not None and first.ignored.tolist() == [False, True]
    assert first.box_labels is not None
    assert [CLASSES[number] for number in first.box_labels] == ["cat", "dog"]
    assert len(open_data(root, split="trainval-2012")) == 1
    test = open_data(root, split="test")
    assert [test.identity(index) for index in range(len(test))] == ["VOC2007/JPEGImages/c.jpg"]
    empty = test.regions(0).boxes
    assert empty is not None and empty.shape == (0, 4)


def test_the_folder_of_one_year_has_masks_of_21_classes(tmp_path: Path) -> None:
    root = devkit(tmp_path) / "VOC2012"
    assert splits(root) == ("trainval", "train-segmentation")
    source = open_data(root, split="train-segmentation")
    assert source.mask_classes == ("background", *CLASSES)
    mask = Annotated(source).image(0).regions.mask
    assert mask is not None
    assert (mask[0, 0], mask[1, 1], mask[2, 2]) == (0, 15, 255)
    assert source.mask_classes[15] == "person"


def test_labels_come_from_boxes_or_from_the_lists_of_the_classes(tmp_path: Path) -> None:
    root = devkit(tmp_path) / "VOC2007"
    cat, dog = CLASSES.index("cat"), CLASSES.index("dog")
    shown = open_data(root, split="trainval").multilabels
    assert shown is not None and shown.values[:, [cat, dog]].tolist() == [[1, -1], [0, 1]]
    for name in CLASSES:
        lines = "a -1\nb  0\n" if name == "cat" else "a -1\nb  1\n"
        (root / "ImageSets" / "Main" / f"{name}_trainval.txt").write_text(lines)
    assert splits(root) == ("train", "trainval", "test")
    shown = open_data(root, split="trainval").multilabels
    assert shown is not None and shown.values[:, [cat, dog]].tolist() == [[0, 0], [-1, 1]]


def test_cut_off_and_missing_annotations_are_listed_and_their_images_left_out(
    tmp_path: Path,
) -> None:
    root = devkit(tmp_path) / "VOC2007"
    path = root / "Annotations" / "b.xml"
    path.write_text(path.read_text()[:-30])
    source = open_data(root, split="trainval")
    assert [source.identity(index) for index in range(len(source))] == ["JPEGImages/a.jpg"]
    (failure,) = source.left_out
    assert failure.identity == "JPEGImages/b.jpg"
    assert "Annotations/b.xml cannot be read" in failure.reason
    path.unlink()
    assert "No such file" in open_data(root, split="trainval").left_out[0].reason


def test_boxes_that_cannot_be_used_are_listed(tmp_path: Path) -> None:
    root = devkit(tmp_path) / "VOC2007"
    text = annotation([("unicorn", (1, 1, 3, 3), 0), ("cat", (9, 1, 12, 4), 0)], (0, 0))
    (root / "Annotations" / "a.xml").write_text(text)  # the size is that of the image file
    source = open_data(root, split="trainval")
    reasons = [one.reason for one in source.left_out]
    assert reasons == [
        "a box of the unknown class 'unicorn'",
        "a box of 'cat' is outside the image: 8.0, 0.0, 12.0, 4.0",
    ]
    assert len(source) == 2
    (root / "classes.txt").write_text("unicorn\ndog\ncat\n")
    assert open_data(root, split="train").box_classes == ("unicorn", "dog", "cat")


def test_a_mask_of_another_size_is_a_bad_image(tmp_path: Path) -> None:
    root = devkit(tmp_path) / "VOC2012"
    write_mask(root / "SegmentationClass" / "x.png", [[0, 1], [0, 1]])
    source = Annotated(open_data(root, split="train-segmentation"))
    with pytest.raises(BadImageError, match="its mask is 2 × 2 pixels, it is 8 × 6"):
        source.image(0)


def test_a_folder_that_is_not_voc_says_what_is_missing(tmp_path: Path) -> None:
    root = devkit(tmp_path)
    with pytest.raises(UsageError, match="unknown split"):
        open_data(root, split="val")
    shutil.rmtree(root / "VOC2007" / "ImageSets" / "Main")
    with pytest.raises(UsageError, match=r"no list in ImageSets/Main"):
        splits(f"voc:{root / 'VOC2007'}")
    with pytest.raises(UsageError, match="no folders JPEGImages and Annotations"):
        open_data(f"voc:{root / 'VOC2007' / 'JPEGImages'}")
