"""Files of cues, images with and without them, and how samples are halved."""

from pathlib import Path

import numpy as np
import pytest

from tests.fixing.tagged import BOX, TAG, TAGGED_CLASS, Tagged, write_cues
from unshortcut.errors import UsageError
from unshortcut.fixing.cues import lists_nothing, names_of, read_cues
from unshortcut.fixing.pasting import WithCue, WithoutCue, fill, paste
from unshortcut.fixing.samples import Samples, cells_of


def test_a_file_says_which_images_carry_a_cue_and_where(tmp_path: Path) -> None:
    source = Tagged("val", 64)
    cues = read_cues(write_cues(tmp_path / "cues.csv", source))
    groups, names = cues.groups_of(names_of(source))
    assert names == ("without", "tag")
    assert np.array_equal(groups == 1, source.carries)
    assert set(cues.boxes.values()) == {(BOX,)}


def test_two_cues_in_one_image_are_a_group_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "cues.csv"
    path.write_text("image,group\na,tag\na,border\nb,tag\nc,\n")
    groups, names = read_cues(path).groups_of(["a", "b", "c", "d"])
    assert names == ("without", "border + tag", "tag")
    assert groups.tolist() == [1, 2, 0, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("image,cue\na,tag\n", "no column 'group'"),
        ("image,group\na,\n", "lists no image with a group"),
        ("image,group,x0,y0,x1,y1\na,tag,1,2,1,4\n", r"line 2: the box from \(1, 2\).*no area"),
        ("image,group,x0,y0,x1,y1\na,tag,1,2,nan,4\n", "no area"),
        ("image,group,x0,y0,x1,y1\na,tag,1,2,x,4\n", "are not numbers"),
        ("image,group\na\n", "line 2: the line is cut off"),
    ],
)
def test_a_file_that_is_not_one_is_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "cues.csv"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        read_cues(path)


def test_a_list_without_lines_is_told_from_a_wrong_file(tmp_path: Path) -> None:
    path = tmp_path / "cues.csv"
    for text, nothing in [
        ("image,group\n", True),
        ("image,group\na,tag\n", False),
        ("image,group\na,\n", False),
        ("image,cue\n", False),
    ]:
        path.write_text(text)
        assert lists_nothing(path) == nothing, text


def test_a_file_of_other_data_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cues.csv"
    path.write_text("image,group\nelsewhere.png,tag\n")
    with pytest.raises(UsageError, match=r"names no image of the data.*'elsewhere\.png'"):
        read_cues(path).groups_of(["here.png"])


def test_a_cue_is_filled_from_its_surroundings() -> None:
    image = np.full((32, 40, 3), (10, 120, 200), np.uint8)
    image[4:9, 6:12] = 255
    assert np.abs(fill(image, [(6, 4, 12, 9)]).astype(int) - (10, 120, 200)).max() <= 2


def test_a_cue_is_pasted_at_the_same_place_of_a_larger_image() -> None:
    donor = np.zeros((20, 20, 3), np.uint8)
    donor[5:10, 10:15] = 200
    host = np.full((40, 60, 3), 7, np.uint8)
    found = np.argwhere((paste(host, donor, (10, 5, 15, 10)) == 200).all(axis=2))
    assert found.min(axis=0).tolist() == [10, 30] and found.max(axis=0).tolist() == [19, 44]


def test_all_images_get_the_cue_and_none_keeps_it(tmp_path: Path) -> None:
    source = Tagged("val", 40)
    boxes = read_cues(write_cues(tmp_path / "cues.csv", source)).boxes
    left, top = int(BOX[0]), int(BOX[1])
    carrier = int(np.flatnonzero(source.carries)[0])
    tag = source.image(carrier).pixels()[top : top + TAG, left : left + TAG]
    for index in range(6):
        pasted = WithCue(source, boxes, seed=0).image(index).pixels()
        assert np.array_equal(pasted[top : top + TAG, left : left + TAG], tag)
    cleaned = WithoutCue(source, boxes).image(carrier).pixels()
    assert not np.array_equal(cleaned[top : top + TAG, left : left + TAG], tag)
    assert WithoutCue(source, boxes).fingerprint() != WithCue(source, boxes, 0).fingerprint()


def test_cells_are_classes_and_groups_that_occur() -> None:
    labels, groups = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 0])
    cells, names = cells_of(labels, ("cat", "dog"), groups, ("without", "tag"))
    assert names == ("cat, without", "cat, tag", "dog, without")
    assert cells.tolist() == [0, 1, 2, 2]


def test_halves_keep_versions_of_an_image_together_and_every_cell_in_both() -> None:
    images = np.tile(np.arange(60), 2)
    labels = images % 3
    cells = labels + 3 * np.repeat([0, 1], 60)
    names = tuple("abcdef")
    samples = Samples(np.zeros((120, 2)), labels, cells, names, images)
    first, second = samples.halves(seed=0)
    assert not set(first.images) & set(second.images)
    assert np.bincount(first.cells).tolist() == np.bincount(second.cells).tolist() == [10] * 6
    assert TAGGED_CLASS in first.labels


def test_versions_are_the_images_that_are_there_twice() -> None:
    images = np.array([0, 1, 2, 3, 0, 2, 3])
    features = np.arange(7.0)[:, None]
    samples = Samples(features, images % 2, images % 2, ("a", "b"), images)
    first, second = samples.versions()
    assert first.images.tolist() == second.images.tolist() == [0, 2, 3]
    assert first.features[:, 0].tolist() == [0, 2, 3]
    assert second.features[:, 0].tolist() == [4, 5, 6]
