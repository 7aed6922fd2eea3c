"""Conflict stimuli: the two cues that a file name states, and what is refused."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from tests.real_data import real_data
from unshortcut.data.shapes import SHAPE_NAMES, Shapes
from unshortcut.errors import UsageError
from unshortcut.measuring.subjects.class_names import CATEGORIES
from unshortcut.measuring.subjects.conflict import cues_of, open_conflict


def stimuli(folder: Path, names: list[str]) -> Path:
    """A folder with an image of each name."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        cv2.imwrite(str(folder / name), np.zeros((8, 8, 3), np.uint8))
    return folder


@pytest.mark.parametrize(
    ("identity", "cues"),
    [
        ("airplane/airplane1-bicycle2.png", ("airplane", "bicycle")),
        ("cat12-dog.jpg", ("cat", "dog")),
        ("cat-dog.png", ("cat", "dog")),
        ("t-shirt1-dog2.png", ("t-shirt", "dog")),
        ("dog2-t-shirt1.png", ("dog", "t-shirt")),
        ("mp3player1-dog2.png", ("mp3player", "dog")),
        ("n02123045-n02124075.png", ("n02123045", "n02124075")),
        ("n021230451-n021240752.png", ("n02123045", "n02124075")),
        ("cat.png", None),
        ("t-shirt-dog.png", None),  # where the shape ends cannot be told
        ("-dog.png", None),
        ("cat-.png", None),
    ],
)
def test_a_file_name_states_shape_and_texture(identity: str, cues: tuple[str, str] | None) -> None:
    assert cues_of(identity) == cues


@pytest.mark.parametrize(
    ("identity", "cues"),
    [
        ("t-shirt-dog.png", ("t-shirt", "dog")),
        ("dog-t-shirt3.png", ("dog", "t-shirt")),
        ("boeing-7471-dog1.png", ("boeing-747", "dog")),
        ("dog1-boeing-747.png", ("dog", "boeing-747")),
        ("dog1-ice-cream2.png", ("dog", "ice-cream")),  # no folder has this texture's shape
        ("cat1-dog1.png", ("cat", "dog")),
    ],
)
def test_folders_tell_which_hyphens_and_digits_belong_to_a_class(
    identity: str, cues: tuple[str, str]
) -> None:
    assert cues_of(identity, {"t-shirt", "t", "dog", "boeing-747"}) == cues


def test_classes_are_those_of_both_cues(tmp_path: Path) -> None:
    names = ["zebra/zebra1-dog2.png", "zebra/zebra2-zebra1.png", "dog/dog1-wood.png"]
    found = open_conflict(stimuli(tmp_path, names))
    assert found.classes == ("dog", "wood", "zebra")
    cues = {
        found.source.identity(row): (found.classes[shape], found.classes[texture])
        for row, (shape, texture) in enumerate(zip(found.shapes, found.textures, strict=True))
    }
    assert cues == {
        "dog/dog1-wood.png": ("dog", "wood"),
        "zebra/zebra1-dog2.png": ("zebra", "dog"),
        "zebra/zebra2-zebra1.png": ("zebra", "zebra"),
    }


def test_a_part_of_the_16_categories_is_still_decided_among_all_16(tmp_path: Path) -> None:
    found = open_conflict(stimuli(tmp_path, ["cat/cat1-dog2.png", "dog/dog2-cat1.png"]))
    assert found.classes == tuple(CATEGORIES)
    assert [found.classes[place] for place in found.shapes] == ["cat", "dog"]


def test_a_flat_folder_will_do(tmp_path: Path) -> None:
    found = open_conflict(stimuli(tmp_path, ["oak1-elm2.png", "elm1-oak2.png"]))
    assert found.classes == ("elm", "oak")
    assert found.shapes.tolist() == [0, 1] and found.textures.tolist() == [1, 0]


def test_an_image_that_names_no_cues_is_refused_by_name(tmp_path: Path) -> None:
    folder = stimuli(tmp_path, ["cat/cat1-dog1.png", "cat/cover.png"])
    with pytest.raises(UsageError, match=r"'cat/cover.png' does not name its cues \(1 of 2"):
        open_conflict(folder)


def test_an_empty_or_absent_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("empty", "absent"):
        with pytest.raises(UsageError, match=name):
            open_conflict(tmp_path / name)


def test_drawn_shapes_know_their_cues() -> None:
    source = Shapes("conflict", count=32, size=32)
    found = open_conflict(source)
    assert found.classes == SHAPE_NAMES
    assert (found.shapes != found.textures).all()
    assert found.shapes.tolist() == source.shape_labels.tolist()
    assert found.textures.tolist() == source.texture_labels.tolist()
    assert open_conflict("shapes").source.identity(0) == open_conflict(
        "shapes@conflict"
    ).source.identity(0)
    with pytest.raises(UsageError, match="shapes@sketch do not have two cues"):
        open_conflict("shapes@sketch")
    with pytest.raises(UsageError, match="shapes@unseen do not have two cues"):
        open_conflict("shapes@unseen")


def test_the_published_stimuli_have_16_classes_and_22_that_agree() -> None:
    found = open_conflict(real_data("cue-conflict.tar"))
    assert found.classes == tuple(CATEGORIES)
    assert len(found.shapes) == 373
    assert int((found.shapes == found.textures).sum()) == 22
    assert found.source.classes == tuple(CATEGORIES) and found.source.labels is not None
    np.testing.assert_array_equal(found.shapes, found.source.labels)
