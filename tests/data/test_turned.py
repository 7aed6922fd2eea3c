"""Turned images: pixels and labels agree, turns are balanced, bad images stay bad."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Picture

from tests.data.images import write_tree
from unshortcut.data.open import open_data
from unshortcut.data.shapes import Shapes
from unshortcut.data.source import BadImageError, Subset
from unshortcut.data.turned import DEGREES, Turned
from unshortcut.errors import UsageError


def test_the_label_is_the_angle_that_pillow_turns_by(tmp_path: Path) -> None:
    pixels = np.random.default_rng(0).integers(256, size=(5, 8, 3), dtype=np.uint8)
    picture = Picture.fromarray(pixels)
    picture.save(tmp_path / "a.png")
    turned = Turned(open_data(tmp_path), "all")
    for label, degrees in enumerate(DEGREES):
        image = turned.image(label)
        expected = np.asarray(picture.rotate(int(degrees), expand=True))
        np.testing.assert_array_equal(image.pixels(), expected)
        assert (image.height, image.width) == expected.shape[:2]
        assert turned.labels[label] == label


def test_all_shows_each_image_four_times_in_its_order() -> None:
    source = Shapes("val", size=16, count=6)
    turned = Turned(source, "all")
    assert len(turned) == 24 and turned.classes == ("0", "90", "180", "270")
    np.testing.assert_array_equal(turned.labels, [0, 1, 2, 3] * 6)
    for index in (0, 5, 23):
        upright = np.rot90(turned.image(index).pixels(), -(index % 4))
        np.testing.assert_array_equal(upright, source.image(index // 4).pixels())


@pytest.mark.parametrize("count", [3, 40, 41, 4003])
def test_one_shows_each_image_once_and_the_angles_are_balanced(count: int) -> None:
    source = Shapes("val", size=16, count=count)
    turned = Turned(source, "one")
    assert len(turned) == count
    counts = np.bincount(turned.labels, minlength=4)
    assert counts.max() - counts.min() <= 1
    for index in (0, count - 1):
        upright = np.rot90(turned.image(index).pixels(), -turned.labels[index])
        np.testing.assert_array_equal(upright, source.image(index).pixels())


def test_an_angle_depends_on_seed_and_position_alone() -> None:
    source = Shapes("val", size=16, count=400)
    labels = Turned(source).labels
    np.testing.assert_array_equal(labels[:90], Turned(Subset(source, np.arange(90))).labels)
    # Angles of another seed agree by chance, in a quarter of the places.
    assert 0.15 < (labels == Turned(source, seed=1).labels).mean() < 0.35
    # Neither the place among four nor the four before say what the angle is.
    assert 0.15 < (labels == np.arange(400) % 4).mean() < 0.35
    assert 0.15 < (labels[4:] == labels[:-4]).mean() < 0.35


def test_names_and_fingerprints_are_its_own(tmp_path: Path) -> None:
    write_tree(tmp_path, [f"{number}.png" for number in range(8)])
    source = open_data(tmp_path)
    ways = [Turned(source, "all"), Turned(source, "one"), Turned(source, "one", seed=1)]
    prints = {each.fingerprint() for each in (source, *ways)}
    assert len(prints) == 4 and Turned(source, "one").fingerprint() in prints
    names = [ways[0].identity(index) for index in range(32)]
    assert len(set(names)) == 32 and names[5] == "1.png turned by 90°"
    assert ways[1].identity(3) == f"3.png turned by {DEGREES[ways[1].labels[3]]}°"


def test_an_image_that_cannot_be_read_stays_so(tmp_path: Path) -> None:
    write_tree(tmp_path, ["0.png", "1.png", "2.png"])
    (tmp_path / "1.png").write_bytes(b"no image")
    turned = Turned(open_data(tmp_path), "all")
    assert turned.has_headers
    turned.check_header(3)
    for index in range(4, 8):
        with pytest.raises(BadImageError):
            turned.image(index).pixels()
        with pytest.raises(BadImageError):
            turned.check_header(index)


def test_another_way_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown choice of turns 'al'; did you mean 'all'"):
        Turned(Shapes("val", size=16, count=4), "al")  # type: ignore[arg-type]
