"""COCO in small copies of its folders."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.data.images import write_mask, write_tree
from unshortcut.data.open import open_data, splits
from unshortcut.data.source import Annotated
from unshortcut.errors import UsageError

MASK = [[0] * 8 for _ in range(6)]


def box(image: int, category: int, xywh: list[Any], crowd: int = 0) -> dict[str, Any]:
    polygon = [[0.0, 0.0, 1.0, 1.0, 0.0, 1.0]]
    return {
        "image_id": image,
        "category_id": category,
        "bbox": xywh,
        "iscrowd": crowd,
        "segmentation": polygon,
    }


def content(*annotations: dict[str, Any]) -> dict[str, Any]:
    return {
        "images": [
            {"id": 5, "file_name": "b.png", "height": 6, "width": 8},
            {"id": 9, "file_name": "a.png"},
            {"id": 2, "file_name": "c.png", "height": 6, "width": 8},
        ],
        "categories": [{"id": 17, "name": "cat"}, {"id": 3, "name": "car"}],
        "annotations": list(annotations),
    }


GOOD = (
    box(5, 17, [1, 2, 3, 4]),
    box(5, 3, [0, 0, 2, 2], crowd=1),
    box(9, 3, [6.5, 0, 10, 3]),
)


def write(root: Path, found: dict[str, Any]) -> Path:
    for split in ("train2017", "val2017"):
        write_tree(root / "images" / split, ["a.png", "b.png", "c.png"])
        path = root / "annotations" / f"instances_{split}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(found))
    return root


def test_boxes_crowds_and_contiguous_classes(tmp_path: Path) -> None:
    root = write(tmp_path, content(*GOOD))
    assert splits(root) == ("train", "val")
    source = open_data(root)
    names = [source.identity(index) for index in range(len(source))]
    assert names == [f"images/train2017/{one}.png" for one in "abc"]
    assert source.box_classes == ("car", "cat")
    a, b, c = (source.regions(index) for index in range(3))
    assert a.boxes is not None and a.boxes.tolist() == [[6.5, 0, 8, 3]]  # clipped
    assert b.boxes is not None and b.boxes.tolist() == [[1, 2, 4, 6], [0, 0, 2, 2]]
    assert b.box_labels is not None and b.box_labels.tolist() == [1, 0]
    assert b.ignored is not None and b.ignored.tolist() == [False, True]
    assert c.boxes is not None and c.boxes.shape == (0, 4)
    assert source.multilabels is not None
    assert source.multilabels.values.tolist() == [[1, 0], [-1, 1], [0, 0]]
    assert source.image(1).pixels()[0, 0, 0] == 11
    assert open_data(f"coco:{root}@val").fingerprint() != source.fingerprint()


def test_what_cannot_be_used_is_listed(tmp_path: Path) -> None:
    wrong = (
        box(5, 99, [0, 0, 2, 2]),
        box(5, 17, [0, 0, 0, 2]),
        box(2, 17, ["x", 0, 1, 2]),
        {"image_id": 2, "category_id": 17},
        box(77, 17, [0, 0, 2, 2]),
    )
    source = open_data(write(tmp_path, content(*GOOD, *wrong)))
    reasons = [one.reason for one in source.left_out]
    for reason, expected in zip(
        reasons,
        ("the image 77", "class '99'", "no area", "not four numbers", "not four numbers"),
        strict=True,
    ):
        assert expected in reason
    assert len(source) == 3
    boxes = source.regions(1).boxes
    assert boxes is not None and len(boxes) == 2


def test_a_cut_off_or_strange_file_is_one_sentence(tmp_path: Path) -> None:
    root = write(tmp_path, content(*GOOD))
    path = root / "annotations" / "instances_train2017.json"
    path.write_text(path.read_text()[:-20])
    with pytest.raises(UsageError, match=r"instances_train2017\.json is not valid JSON"):
        open_data(root)
    path.write_text('{"images": [{"id": 1}], "categories": [], "annotations": []}')
    with pytest.raises(UsageError, match="it lacks 'file_name'"):
        open_data(root)
    path.write_text("[]")
    with pytest.raises(UsageError, match="does not list its categories"):
        open_data(root)
    with pytest.raises(UsageError, match=r"no file annotations/instances_\*\.json"):
        open_data(f"coco:{root / 'images'}")


def test_one_file_beside_the_images_is_opened_by_name(tmp_path: Path) -> None:
    write_tree(tmp_path / "one", ["a.png", "b.png", "c.png"])
    (tmp_path / "one" / "any.json").write_text(json.dumps(content(*GOOD)))
    source = open_data(f"coco:{tmp_path / 'one'}")
    assert source.identity(0) == "a.png" and source.box_classes == ("car", "cat")
    (tmp_path / "one").rename(tmp_path / "valid")
    assert splits(f"coco:{tmp_path}") == ("val",)
    assert open_data(f"coco:{tmp_path}").image(0).height == 6


def test_masks_of_a_part_of_the_images_have_a_split_of_their_own(tmp_path: Path) -> None:
    root = write(tmp_path, content(*GOOD))
    mask = [row[:] for row in MASK]
    mask[0][:3] = [16, 100, 255]  # cat is 17
    write_mask(root / "stuffthingmaps" / "train2017" / "b.png", mask)
    assert splits(root) == ("train", "val", "train-segmentation")
    everything = open_data(root)
    assert len(everything) == 3 and everything.mask_classes is None
    source = open_data(root, split="train-segmentation")
    assert [source.identity(index) for index in range(len(source))] == ["images/train2017/b.png"]
    regions = Annotated(source).image(0).regions
    assert source.mask_classes is not None and len(source.mask_classes) == 182
    assert regions.mask is not None and regions.mask[0, :3].tolist() == [16, 100, 255]
    assert source.mask_classes[16] == "cat" and source.mask_classes[100] == "100"
    assert regions.boxes is not None and len(regions.boxes) == 2
    assert source.multilabels is not None and source.multilabels.values.tolist() == [[-1, 1]]


def test_masks_of_all_images_belong_to_the_split(tmp_path: Path) -> None:
    root = write(tmp_path, content(*GOOD))
    for one in "abc":
        write_mask(root / "masks" / "train2017" / f"{one}.png", [[0] * 7 + [17]] * 6)
    source = open_data(root)
    assert source.mask_classes == ("background", "car", "cat")
    mask = source.regions(0).mask
    assert mask is not None and mask[0].tolist() == [0] * 7 + [2]
