"""Open Images in small copies of its files."""

from pathlib import Path

import pytest

from tests.data.images import write_tree
from unshortcut.data.open import open_data, splits
from unshortcut.errors import UsageError

COLUMNS = "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded,IsTruncated,IsGroupOf"


def row(image: str, label: str, corners: tuple[float, float, float, float], group: int = 0) -> str:
    x0, x1, y0, y1 = corners
    return f"{image},xclick,{label},1,{x0},{x1},{y0},{y1},0,0,{group}"


def write(root: Path, *rows: str) -> Path:
    write_tree(root, ["validation/aa.png", "validation/bb.png", "validation/cc.png"])
    (root / "validation-annotations-bbox.csv").write_text("\n".join((COLUMNS, *rows)))
    names = "/m/1,Cat\n/m/2,Dog\n/m/3,Bat\n/m/4,Bat\n"
    (root / "class-descriptions-boxable.csv").write_text(names)
    return root


GOOD = (
    row("aa", "/m/2", (0.25, 0.5, 0.0, 0.5)),
    row("aa", "/m/1", (0.5, 1.0, 0.5, 1.0), group=1),
    row("elsewhere", "/m/1", (0.5, 1.0, 0.5, 1.0)),
    row("bb", "/m/2", (0.0, 1.0, 0.0, 1.0)),
)


def test_boxes_groups_and_the_images_on_the_disk(tmp_path: Path) -> None:
    root = write(tmp_path, *GOOD)
    assert splits(root) == ("val",)
    source = open_data(root)
    assert [source.identity(index) for index in range(3)] == [
        f"validation/{one}.png" for one in ("aa", "bb", "cc")
    ]
    assert source.box_classes == ("Cat", "Dog", "Bat (/m/3)", "Bat (/m/4)")
    first = source.regions(0)
    assert first.boxes is not None and first.boxes.tolist() == [[2, 0, 4, 3], [4, 3, 8, 6]]
    assert first.ignored is not None and first.ignored.tolist() == [False, True]
    assert source.multilabels is not None
    assert source.multilabels.values[:, :2].tolist() == [[-1, 1], [0, 1], [0, 0]]
    assert source.left_out == ()


def test_image_labels_are_known_where_they_are_verified(tmp_path: Path) -> None:
    root = write(tmp_path, *GOOD)
    text = "ImageID,Source,LabelName,Confidence\ncc,verification,/m/1,1\nbb,verification,/m/1,0\n"
    text += "bb,verification,/m/999,1\nzz,verification,/m/1,1\n"
    (root / "validation-annotations-human-imagelabels-boxable.csv").write_text(text)
    shown = open_data(root).multilabels
    assert shown is not None
    assert shown.values[:, :2].tolist() == [[-1, 1], [0, 1], [1, -1]]


def test_rows_that_cannot_be_used_are_listed(tmp_path: Path) -> None:
    wrong = (
        row("bb", "/m/77", (0.0, 1.0, 0.0, 1.0)),
        row("bb", "/m/1", (0.5, 0.5, 0.0, 1.0)),
        row("cc", "/m/1", (0.0, 1.0, 0.0, 1.0))[:20],
    )
    source = open_data(write(tmp_path, *GOOD, *wrong))
    assert [one.reason.split(":")[0] for one in source.left_out] == [
        "a box of the unknown class '/m/77'",
        "a box of 'Cat' has no area",
        "the row is cut off",
    ]
    assert source.left_out[-1].identity == "validation-annotations-bbox.csv line 8"
    boxes = source.regions(1).boxes
    assert boxes is not None and len(boxes) == 1


def test_a_folder_that_is_not_openimages_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no file such as validation-annotations-bbox"):
        open_data(f"openimages:{tmp_path}")
    root = write(tmp_path, *GOOD)
    (root / "validation-annotations-bbox.csv").write_text("a,b\n1,2\n")
    with pytest.raises(UsageError, match="has no column 'ImageID' in its first line, but a, b"):
        open_data(root)
    (root / "class-descriptions-boxable.csv").unlink()
    with pytest.raises(UsageError, match="no file class-descriptions-boxable"):
        open_data(root)
