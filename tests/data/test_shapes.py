"""The embedded `shapes` set: bits, labels and speed, and what a line can read of it."""

import pickle
import time

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import RidgeClassifier

from unshortcut.arrays import ImageArray
from unshortcut.data.shapes import (
    COLOR_NAMES,
    POSITION_NAMES,
    SHAPE_NAMES,
    SPLITS,
    TEXTURE_NAMES,
    Shapes,
)
from unshortcut.data.shapes import source as shapes_source
from unshortcut.data.shapes.paint import paint
from unshortcut.data.shapes.plan import ImagePlan
from unshortcut.errors import UsageError

CLASSES = {
    "shape": SHAPE_NAMES,
    "texture": TEXTURE_NAMES,
    "color": COLOR_NAMES,
    "position": POSITION_NAMES,
}


def pixels(source: Shapes, count: int | None = None) -> NDArray[np.uint8]:
    return np.stack([source.image(i).array for i in range(count or len(source))])


class TestDeterminism:
    @pytest.mark.parametrize("split", SPLITS)
    def test_same_bits_whatever_the_count_and_after_pickling(self, split: str) -> None:
        few, many = Shapes(split, count=20, size=32), Shapes(split, count=60, size=32)
        np.testing.assert_array_equal(pixels(few), pixels(many, 20))
        np.testing.assert_array_equal(pixels(few), pixels(pickle.loads(pickle.dumps(few))))
        for factor in (*CLASSES, "rotation"):
            labels = getattr(many, f"{factor}_labels")
            assert labels.shape == (60,) and labels.dtype == np.int64
            np.testing.assert_array_equal(getattr(few, f"{factor}_labels"), labels[:20])

    @pytest.mark.parametrize("split", SPLITS)
    def test_every_seed_split_and_index_has_an_image_of_its_own(self, split: str) -> None:
        twin = "val" if split == "test" else "test"
        sources = [Shapes(split, size=64), Shapes(split, size=64, seed=1), Shapes(twin)]
        images = np.concatenate([pixels(source, 20) for source in sources])
        assert len(np.unique(images.reshape(60, -1), axis=0)) == 60

    def test_fingerprint_changes_with_every_argument(self) -> None:
        def fingerprint(split: str = "test", **arguments: object) -> str:
            return Shapes(split, **{"count": 10, "size": 32} | arguments).fingerprint()  # type: ignore[arg-type]

        prints = [fingerprint(), fingerprint("val"), fingerprint(size=33), fingerprint(count=11)]
        prints += [fingerprint(seed=1), fingerprint(palette=True), fingerprint(label="texture")]
        assert len(set(prints)) == 7
        assert fingerprint() == prints[0]

    def test_identities_name_every_image_once(self) -> None:
        source = Shapes("conflict", count=30)
        names = [source.identity(i) for i in range(30)]
        assert len(set(names)) == 30
        assert all(
            SHAPE_NAMES[k] in name for k, name in zip(source.shape_labels, names, strict=True)
        )


class TestLabels:
    @pytest.mark.parametrize("split", ["train", "val", "test", "rotated", "texture"])
    def test_shape_and_texture_agree_and_are_balanced(self, split: str) -> None:
        source = Shapes(split, count=80)
        np.testing.assert_array_equal(source.shape_labels, source.texture_labels)
        np.testing.assert_array_equal(np.bincount(source.shape_labels), np.full(8, 10))

    def test_conflict_covers_every_other_pair_alike(self) -> None:
        source = Shapes("conflict", count=56 * 3)
        pairs = np.zeros((8, 8), int)
        np.add.at(pairs, (source.shape_labels, source.texture_labels), 1)
        np.testing.assert_array_equal(pairs, 3 * (1 - np.eye(8, dtype=int)))

    @pytest.mark.parametrize("factor", CLASSES)
    def test_label_picks_the_factor_and_all_its_classes_occur(self, factor: str) -> None:
        source = Shapes("conflict", count=400, label=factor)
        assert source.classes == CLASSES[factor]
        assert source.labels is not None
        np.testing.assert_array_equal(source.labels, getattr(source, f"{factor}_labels"))
        shares = np.bincount(source.labels, minlength=len(source.classes)) / 400
        assert shares.min() > 0.6 / len(source.classes)
        assert shares.max() < 1.5 / len(source.classes)

    def test_factors_that_a_split_does_not_show_are_marked(self) -> None:
        assert (Shapes("sketch", count=8).texture_labels == -1).all()
        assert (Shapes("sketch", count=8).color_labels == -1).all()
        assert (Shapes("silhouette", count=8).texture_labels == -1).all()
        assert (Shapes("texture", count=8).position_labels == -1).all()
        assert (Shapes("stylized", count=8).texture_labels == -1).all()
        assert (Shapes("stylized", count=8).color_labels == -1).all()
        with pytest.raises(UsageError, match="'sketch' of shapes has no label 'texture'"):
            Shapes("sketch", label="texture")

    def test_color_says_nothing_of_the_class(self) -> None:
        source = Shapes("train", count=2400)
        table = np.zeros((8, 6))
        np.add.at(table, (source.shape_labels, source.color_labels), 1)
        chi_squared = ((table - 50) ** 2 / 50).sum()
        assert chi_squared < 66.6  # exceeded once in a thousand with 35 degrees of freedom


class TestCues:
    def test_no_line_through_the_pixels_reads_shape_or_texture(self) -> None:
        train = Shapes("train", size=24, count=2000)
        ridge = RidgeClassifier(alpha=100.0)
        ridge.fit(pixels(train).reshape(2000, -1) / 255.0, train.shape_labels)
        for split, bound in (("test", 0.3), ("conflict", 0.25)):
            source = Shapes(split, size=24, count=800)
            guess = ridge.predict(pixels(source).reshape(800, -1) / 255.0)
            assert (guess == source.shape_labels).mean() < bound
            assert (guess == source.texture_labels).mean() < bound


class TestErrors:
    def test_wrong_arguments_name_what_is_allowed(self) -> None:
        with pytest.raises(UsageError, match="did you mean 'test'"):
            Shapes("tset")
        with pytest.raises(UsageError, match="did you mean 'color'"):
            Shapes(label="colour")
        with pytest.raises(UsageError, match="at least 16, not 15"):
            Shapes(size=15)
        with pytest.raises(UsageError, match="at least 1, not 0"):
            Shapes(count=0)

    @pytest.mark.parametrize("index", [-1, 10])
    def test_an_index_outside_is_refused(self, index: int) -> None:
        with pytest.raises(IndexError, match="images 0 to 9"):
            Shapes(count=10).image(index)


@pytest.mark.slow
@pytest.mark.parametrize(("split", "least"), [("train", 2000), ("stylized", 500)])
def test_images_a_second(split: str, least: int) -> None:
    source = Shapes(split, size=64)
    source.image(0)
    rates = []
    # As in a loader's worker; the time of threads that wait for others would count too.
    threads = cv2.getNumThreads()
    cv2.setNumThreads(0)
    for repeat in range(5):
        start = time.process_time()
        for index in range(repeat * 400, repeat * 400 + 400):
            source.image(index)
        rates.append(400 / (time.process_time() - start))
    cv2.setNumThreads(threads)
    assert max(rates) >= least


def test_an_image_is_drawn_once_and_what_is_done_to_it_does_not_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn: list[str] = []

    def counted(plan: ImagePlan, split: str, size: int) -> ImageArray:
        drawn.append(split)
        return paint(plan, split, size)

    monkeypatch.setattr(shapes_source, "paint", counted)
    source = Shapes("val", count=4)
    before = source.image(2).array.copy()
    source.image(2).array[:] = 0
    assert np.array_equal(source.image(2).array, before) and drawn == ["val"]
    monkeypatch.setattr(shapes_source, "KEPT_BYTES", before.nbytes)
    source.image(3)
    source.image(3)
    assert drawn == ["val"] * 3, "no room for a second image"
    assert len(pickle.dumps(source)) < len(pickle.dumps(Shapes("val", count=4))) + 100
