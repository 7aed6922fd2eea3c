"""What encoders are measured on: the splits of shapes, or test images and their textures."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image as PillowImage
from rich.console import Console

from unshortcut.arrays import ImageArray
from unshortcut.data.open import open_data
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.reproduction import textures
from unshortcut.reproduction.evaluation import SHAPES_SPLITS, Evaluation
from unshortcut.reproduction.textures import stratified, textures_of


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Two classes; `train`, and a `val` with a file that is no image."""
    source = Shapes("train", size=48, count=12)
    for index in range(12):
        split = "train" if index < 6 else "val"
        path = tmp_path / "photos" / split / f"class{index % 2}" / f"{index}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        PillowImage.fromarray(source.image(index).pixels()).save(path)
    (tmp_path / "photos" / "val" / "class0" / "broken.png").write_bytes(b"nothing")
    return tmp_path / "photos"


def test_shapes_are_tested_on_their_splits_unless_told_otherwise() -> None:
    mine = Shapes("sketch", size=24, count=8)
    train = Shapes("train", size=24, count=16, palette=True)
    tests = Evaluation(train, {"sketch": mine, "more": mine}).tests
    assert set(tests) == {*SHAPES_SPLITS, "more"}
    assert tests["sketch"] is mine
    conflict = tests["conflict"]
    assert isinstance(conflict, Shapes) and conflict.palette and conflict.size == 24


def test_other_data_are_tested_on_their_own_split_and_on_its_textures(photos: Path) -> None:
    tests = Evaluation(str(photos)).tests
    assert set(tests) == {"test", "texture"}
    assert len(tests["test"]) == 7 and len(tests["texture"]) == 6
    assert tests["texture"].classes == ("class0", "class1")
    labels = tests["texture"].labels
    assert labels is not None and sorted(labels.tolist()) == [0, 0, 0, 1, 1, 1]


def test_a_texture_consists_of_the_pixels_of_its_image(photos: Path) -> None:
    source = open_data(str(photos), split="val")
    made = textures_of(source, Console(stderr=True))
    for place, index in enumerate(made.indices.tolist()):
        original, texture = source.image(index).pixels(), made.image(place).pixels()
        assert texture.shape == (48, 48, 3) and not np.array_equal(texture, original)
        assert colors(texture) <= colors(original)
        assert made.identity(place) == source.identity(index)


def colors(image: ImageArray) -> set[tuple[int, ...]]:
    return {tuple(pixel) for pixel in image.reshape(-1, 3).tolist()}


def test_textures_are_made_once(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = open_data(str(photos), split="val")
    first = textures_of(source, Console(stderr=True), count=4)
    monkeypatch.setattr(textures, "_make", None)
    again = textures_of(source, Console(stderr=True), count=4)
    assert len(first) <= 4 and np.array_equal(first.arrays, again.arrays)
    assert first.fingerprint() == again.fingerprint()


def test_a_part_of_a_test_set_has_as_many_of_each_class() -> None:
    labels = np.array([0] * 50 + [1] * 5 + [2] * 50)
    chosen = stratified(labels, 30)
    assert np.bincount(labels[chosen]).tolist() == [10, 5, 10]
    assert np.all(np.diff(chosen) > 0) and chosen[9] > 10, "drawn at random, not the first ones"
    assert np.array_equal(chosen, stratified(labels, 30))


def test_data_without_a_test_split_are_refused_with_the_cure(photos: Path) -> None:
    with pytest.raises(UsageError, match="--test test=DATA"):
        _ = Evaluation(str(photos / "train")).tests
    given = Evaluation(str(photos / "train"), {"test": str(photos / "train")}).tests
    assert set(given) == {"test", "texture"}
