"""Rotated images: pixels and labels agree, angles are balanced, bad images stay bad."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Picture

from tests.data.images import write_tree
from unshortcut.data.open import open_data
from unshortcut.data.rotated import DEGREES, Rotated
from unshortcut.data.shapes import Shapes
from unshortcut.data.source import BadImageError, Subset


def test_the_label_is_the_angle_that_pillow_rotates_by(tmp_path: Path) -> None:
    pixels = np.random.default_rng(0).integers(256, size=(5, 8, 3), dtype=np.uint8)
    picture = Picture.fromarray(pixels)
    for name in "abcd":
        picture.save(tmp_path / f"{name}.png")
    rotated = Rotated(open_data(tmp_path))
    assert rotated.classes == DEGREES and sorted(rotated.labels) == [0, 1, 2, 3]
    for index, label in enumerate(rotated.labels):
        image = rotated.image(index)
        expected = np.asarray(picture.rotate(int(DEGREES[label]), expand=True))
        np.testing.assert_array_equal(image.pixels(), expected)
        assert (image.height, image.width) == expected.shape[:2]


@pytest.mark.parametrize("count", [3, 40, 41, 4003])
def test_each_image_is_shown_once_and_the_angles_are_balanced(count: int) -> None:
    source = Shapes("val", size=16, count=count)
    rotated = Rotated(source)
    assert len(rotated) == count
    counts = np.bincount(rotated.labels, minlength=4)
    assert counts.max() - counts.min() <= 1
    for index in (0, count - 1):
        upright = np.rot90(rotated.image(index).pixels(), -rotated.labels[index])
        np.testing.assert_array_equal(upright, source.image(index).pixels())


def test_an_angle_depends_on_seed_and_position_alone() -> None:
    source = Shapes("val", size=16, count=400)
    labels = Rotated(source).labels
    np.testing.assert_array_equal(labels[:90], Rotated(Subset(source, np.arange(90))).labels)
    # Angles of another seed agree by chance, in a quarter of the images.
    assert 0.15 < (labels == Rotated(source, seed=1).labels).mean() < 0.35
    # Neither the position among four nor the four before determine the angle.
    assert 0.15 < (labels == np.arange(400) % 4).mean() < 0.35
    assert 0.15 < (labels[4:] == labels[:-4]).mean() < 0.35


def test_names_and_fingerprints_are_its_own(tmp_path: Path) -> None:
    write_tree(tmp_path, [f"{number}.png" for number in range(8)])
    source = open_data(tmp_path)
    rotated = Rotated(source)
    prints = {each.fingerprint() for each in (source, rotated, Rotated(source, seed=1))}
    assert len(prints) == 3 and Rotated(source).fingerprint() in prints
    index = rotated.labels.tolist().index(1)
    assert rotated.identity(index) == f"{index}.png rotated by 90°"


def test_an_image_that_cannot_be_read_stays_so(tmp_path: Path) -> None:
    write_tree(tmp_path, ["0.png", "1.png", "2.png"])
    (tmp_path / "1.png").write_bytes(b"no image")
    rotated = Rotated(open_data(tmp_path))
    assert rotated.has_headers
    for index in (0, 2):
        rotated.check_header(index)
    with pytest.raises(BadImageError):
        rotated.image(1).pixels()
    with pytest.raises(BadImageError):
        rotated.check_header(1)
