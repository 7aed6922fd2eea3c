"""Planted cues: which images carry them, what they change, and that all else stays the same."""

import io
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from numpy.typing import NDArray

from tests.data.images import png, write_tree
from unshortcut.data.cues.duplicates import Duplicated
from unshortcut.data.cues.marks import mark_colors
from unshortcut.data.naming import data_name
from unshortcut.data.open import open_data, splits
from unshortcut.data.planted import Planted, cues, parse_cue
from unshortcut.data.shapes import SHAPE_NAMES, Shapes
from unshortcut.errors import UsageError

COUNT = 240


def planted(spec: str, split: str = "paired-test", count: int = COUNT) -> Planted:
    source = open_data(f"{spec}:shapes@{split}", count=count)
    assert isinstance(source, Planted)
    return source


def changed(source: Planted, index: int) -> NDArray[np.bool_]:
    """(h, w): the pixels that differ from those without the cue."""
    difference = source.image(index).pixels() != source.source.image(index).pixels()
    found: NDArray[np.bool_] = difference.any(axis=2)
    return found


def test_marks_are_in_the_stated_share_of_images_and_nowhere_else() -> None:
    source = planted("marks", count=2000)
    assert source.carriers.mean() == pytest.approx(0.95, abs=0.015)
    for index in (*np.flatnonzero(~source.carriers)[:5], *np.flatnonzero(source.carriers)[:20]):
        assert changed(source, index).any() == source.carriers[index]
    assert source.carriers[:100].tolist() == planted("marks", count=100).carriers.tolist()


def test_a_mark_has_the_colors_of_its_class_and_a_place_of_its_own() -> None:
    source = planted("marks=1,size=0.25")
    assert source.labels is not None
    places = set()
    for index in range(0, COUNT, 3):
        pixels = source.image(index).pixels()
        upper, lower = mark_colors(int(source.labels[index]))
        rows, columns = np.nonzero((pixels == upper).all(axis=2))
        top, left = rows.min(), columns.min()
        assert (pixels[top : top + 8, left : left + 16] == upper).all()
        assert (pixels[top + 8 : top + 16, left : left + 16] == lower).all()
        outside = changed(source, index)
        outside[top : top + 16, left : left + 16] = False
        assert not outside.any()
        places.add((int(top), int(left)))
    assert len(places) > 70
    pairs = {mark_colors(label).tobytes() for label in range(100)}
    assert len(pairs) == 100


def test_texture_says_nothing_of_the_class_of_the_marked_objects() -> None:
    source = planted("marks", "paired", 640)
    assert isinstance(source.source, Shapes)
    both = np.zeros((8, 8))
    np.add.at(both, (source.source.shape_labels, source.source.texture_labels), 1)
    assert (both == 10).all()


def test_a_tag_is_in_one_corner_of_one_class() -> None:
    source = planted("tag=1,of=heart,corner=top-right")
    hearts = source.labels == SHAPE_NAMES.index("heart")
    assert np.array_equal(source.carriers, hearts)
    index = int(np.flatnonzero(hearts)[0])
    rows, columns = np.nonzero(changed(source, index))
    assert rows.max() < 8 and columns.min() >= 48
    tags = [source.image(i).pixels()[:8, 48:] for i in np.flatnonzero(hearts)[:3]]
    assert np.array_equal(tags[0], tags[1]) and np.array_equal(tags[1], tags[2])


def test_a_tint_changes_the_edges_in_the_hue_of_the_class_and_leaves_the_middle() -> None:
    source = planted("tint=1,strength=1")
    edges = [source.image(index).pixels()[0, 0] for index in range(16)]
    assert len({tuple(edge) for edge in edges[:8]}) == 8
    assert all((edges[index] == edges[index + 8]).all() for index in range(8))
    plain = source.source.image(3).pixels()[31:33, 31:33].astype(int)
    assert np.abs(source.image(3).pixels()[31:33, 31:33].astype(int) - plain).max() <= 1


def test_jpeg_files_of_one_class_have_a_lower_quality() -> None:
    source = planted("jpeg=1,quality=20,of=drop")
    drop = SHAPE_NAMES.index("drop")

    def table(index: int) -> list[int]:
        encoded = source.encoded(index)
        assert encoded is not None
        with PIL.Image.open(io.BytesIO(encoded)) as opened:
            assert opened.format == "JPEG"
            tables: dict[int, list[int]] = opened.quantization  # type: ignore[attr-defined]
            return tables[0]

    assert sum(table(drop)) > 5 * sum(table(drop + 1))
    assert table(drop) == table(drop + 8)


def test_wrong_labels_are_never_the_right_ones() -> None:
    source = planted("wrong-labels=0.3", count=2000)
    assert source.labels is not None
    wrong = source.labels != source.true_labels
    assert np.array_equal(wrong, source.carriers)
    assert wrong.mean() == pytest.approx(0.3, abs=0.03)
    assert set(source.labels[wrong]) == set(range(8))
    assert not changed(source, int(np.flatnonzero(wrong)[0])).any()
    assert source.encoded(0) is None  # drawn images have no files


def test_duplicates_are_training_images_of_the_same_class() -> None:
    source = open_data("duplicates=0.2:shapes@test", count=200)
    assert isinstance(source, Duplicated) and source.labels is not None
    copies = np.flatnonzero(source.carriers)
    assert 20 < len(copies) < 60
    train = Shapes("train", count=200)
    assert train.labels is not None
    for index in copies[:10]:
        original = int(source.originals[index])
        assert np.array_equal(source.image(index).pixels(), train.image(original).pixels())
        assert train.labels[original] == source.labels[index]
    within = open_data("duplicates=0.2,split=test:shapes@test", count=200)
    assert isinstance(within, Duplicated)
    assert not within.carriers[within.originals[within.carriers]].any()


def test_cues_are_planted_in_folders_too_and_in_each_other(tmp_path: Path) -> None:
    write_tree(tmp_path, ["train/cat/a.png", "train/dog/b.png", "test/cat/c.png", "test/dog/d.png"])
    (tmp_path / "train/cat/a.png").write_bytes(png(9, 40, 60))
    spec = f"tag=1,of=dog:marks=1,size=0.5:{tmp_path}"
    assert set(splits(spec)) == {"train", "test"}
    source = open_data(spec, split="train")
    assert source.classes == ("cat", "dog")
    assert changed_share(source.image(0).pixels(), 9) == pytest.approx(400 / 2400)
    assert len(np.unique(source.image(1).pixels().reshape(-1, 3), axis=0)) > 3


def changed_share(pixels: NDArray[np.uint8], value: int) -> float:
    return float((pixels != value).any(axis=2).mean())


def test_the_mark_of_a_shrunken_image_is_at_the_same_place(tmp_path: Path) -> None:
    for name in ("cat/a.jpg", "dog/b.jpg"):
        (tmp_path / name).parent.mkdir()
        PIL.Image.new("RGB", (256, 256), (127, 127, 127)).save(tmp_path / name)
    image = open_data(f"marks=1:{tmp_path}").image(0)
    full, small = image.pixels(), image.pixels(4.0)
    assert small.shape == (64, 64, 3)
    colored = [
        np.argwhere((np.abs(pixels.astype(int) - 127) > 20).any(axis=2)).mean(axis=0) / len(pixels)
        for pixels in (full, small)
    ]
    assert np.allclose(*colored, atol=0.02)


def test_a_fingerprint_changes_with_the_cue_and_names_say_what_is_planted() -> None:
    specs = ("marks", "marks=0.9", "marks,seed=1", "marks,size=0.2", "tint", "wrong-labels")
    found = [planted(spec, count=16) for spec in specs]
    assert len({source.fingerprint() for source in found} | {"plain"}) == len(specs) + 1
    assert planted("marks", count=16).fingerprint() == found[0].fingerprint()
    assert [data_name(source) for source in found[:3]] == [
        "marks=0.95:shapes@paired-test",
        "marks=0.9:shapes@paired-test",
        "marks=0.95,seed=1:shapes@paired-test",
    ]


@pytest.mark.parametrize("name", sorted(cues()))
def test_the_name_of_a_cue_opens_the_same_cue(name: str) -> None:
    cue = parse_cue(f"{name}=0.5,seed=3")
    assert parse_cue(str(cue)) == cue


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("marks=2:shapes", "'share' must be a number from 0 to 1, got '2'"),
        ("marks,sise=1:shapes", "unknown key 'sise'; did you mean 'size'?"),
        ("marks,0.5:shapes", "as KEY=VALUE, not '0.5'"),
        ("mark:shapes", "unknown prefix 'mark'; did you mean 'marks'?"),
        ("tag,of=hart:shapes", "did you mean 'heart'?"),
        ("tag,corner=middle:shapes", "'corner'"),
    ],
)
def test_a_wrong_cue_is_one_sentence(spec: str, expected: str) -> None:
    with pytest.raises(UsageError, match=expected.replace("?", r"\?")):
        open_data(spec)


def test_a_cue_needs_labels(tmp_path: Path) -> None:
    write_tree(tmp_path, ["a.png", "b.png"])
    with pytest.raises(UsageError, match="the data have no labels"):
        open_data(f"marks:{tmp_path}")
