"""Masks in files: ids as classes, and files that are no masks."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.data.images import png, write_mask
from unshortcut.data.class_ids import read_class_ids
from unshortcut.data.masks import MaskFiles
from unshortcut.data.regions import IGNORED
from unshortcut.data.source import BadImageError
from unshortcut.errors import UsageError


@pytest.mark.parametrize("palette", [False, True])
def test_ids_are_classes_whatever_the_colors(tmp_path: Path, palette: bool) -> None:
    write_mask(tmp_path / "a.png", [[0, 3, 3], [7, 255, 0]], palette)
    masks = MaskFiles(tmp_path, ["a.png"], {0: IGNORED, 3: 0, 7: 1, 255: IGNORED})
    assert masks.read(0).tolist() == [[255, 0, 0], [1, 255, 255]]


def test_16_bits_are_read_if_the_ids_fit(tmp_path: Path) -> None:
    for name, value in (("good.png", 5), ("bad.png", 300)):
        Image.fromarray(np.full((2, 2), value, dtype=np.uint16)).save(tmp_path / name)
    masks = MaskFiles(tmp_path, ["good.png", "bad.png"], {5: 0})
    assert masks.read(0).tolist() == [[0, 0], [0, 0]]
    with pytest.raises(BadImageError, match="ids beyond 255"):
        masks.read(1)


def test_files_that_are_no_masks_say_so(tmp_path: Path) -> None:
    (tmp_path / "color.png").write_bytes(png(3))
    (tmp_path / "cut.png").write_bytes(png(3, 60, 60)[:80])
    write_mask(tmp_path / "strange.png", [[0, 9]])
    masks = MaskFiles(tmp_path, ["color.png", "cut.png", "strange.png", "none.png"], {0: 0})
    for index, reason in enumerate(
        ("color image", "cannot be read", "has the id 9, which no class has", "cannot be read: No")
    ):
        with pytest.raises(BadImageError, match=f"its mask .*{reason}"):
            masks.read(index)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("classes.txt", "0 unlabeled\n2 cat\n7: fire hydrant\n"),
        ("classes.yaml", "names: {0: Unlabeled, 2: cat, 7: fire hydrant}"),
        ("classes.yaml", "classes:\n  2: cat\n  7: fire hydrant\nignored: 0\n"),
    ],
)
def test_lists_of_classes_may_have_gaps_and_ids_that_do_not_count(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    ids = read_class_ids(tmp_path / name)
    assert ids.classes == ("cat", "fire hydrant")
    assert ids.numbers == {0: IGNORED, 2: 0, 7: 1, 255: IGNORED}


def test_255_is_a_class_if_it_has_a_name_and_names_alone_count_from_0(tmp_path: Path) -> None:
    path = tmp_path / "classes.txt"
    path.write_text("0 background\n255 cat\n")
    assert read_class_ids(path).numbers == {0: 0, 255: 1}
    path.write_text("background\nred panda\n")
    assert read_class_ids(path).names == {0: "background", 1: "red panda"}


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.txt", "\n", "is empty"),
        ("a.txt", "cat\ncat\n", "has 'cat' twice"),
        ("a.yaml", "names: [cat", "not valid YAML"),
        ("a.yaml", "names: cat", "must map ids to names"),
        ("a.yaml", "path: .\ntrain: x", "must map ids to names"),
    ],
)
def test_a_wrong_list_of_classes_says_what_is_wrong(
    tmp_path: Path, name: str, text: str, reason: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=reason):
        read_class_ids(tmp_path / name)
