"""Images as a model sees them, and the part of them that a measurement takes."""

import numpy as np
import pytest
import torch

from tests.measuring.made import arrays, subject_of
from unshortcut.data.source import BadImageError, Image, ImageSource
from unshortcut.errors import UsageError
from unshortcut.measuring.subjects.images import Prepared, half_of_each, stratified
from unshortcut.views.evaluation import EvaluationView


def test_a_part_has_each_class_in_its_share_and_at_least_once() -> None:
    labels = np.repeat([0, 1, 2], [100, 50, 2])
    rows = stratified(labels, 20, seed=0)
    assert np.bincount(labels[rows]).tolist() == [13, 6, 1]
    assert (np.diff(rows) > 0).all()


def test_a_mean_over_a_part_estimates_that_over_the_whole() -> None:
    labels = np.repeat([0, 1], [900, 100])
    right = labels == 0
    assert right[stratified(labels, 100, seed=3)].mean() == pytest.approx(0.9, abs=0.011)


def test_of_every_class_one_half_is_to_fit_on_and_a_single_image_too() -> None:
    labels = np.repeat([0, 1, 2, 3], [100, 20, 3, 1])
    assert np.bincount(labels[half_of_each(labels, seed=0)]).tolist() == [50, 10, 2, 1]


def test_fewer_images_are_a_part_of_more_and_another_seed_takes_others() -> None:
    labels = np.arange(90) % 3
    few, more = stratified(labels, 9, seed=1), stratified(labels, 30, seed=1)
    assert set(few) < set(more)
    assert set(few) != set(stratified(labels, 9, seed=2))


class _OneBroken(ImageSource):
    def __init__(self, source: ImageSource, broken: set[int]) -> None:
        self.source, self.broken = source, broken
        self.labels, self.classes = source.labels, source.classes

    def __len__(self) -> int:
        return len(self.source)

    def image(self, index: int) -> Image:
        if index in self.broken:
            raise BadImageError("it is torn")
        return self.source.image(index)

    def identity(self, index: int) -> str:
        return self.source.identity(index)

    def fingerprint(self) -> str:
        return self.source.fingerprint() + "broken"


def _numbered(count: int) -> ImageSource:
    pixels = np.arange(count, dtype=np.uint8)[:, None, None, None].repeat(8, 1).repeat(8, 2)
    return arrays(pixels.repeat(3, 3), np.arange(count) % 2, ["even", "odd"])


def test_images_that_cannot_be_read_are_left_out_with_a_word() -> None:
    source = _OneBroken(_numbered(6), {2})
    with pytest.warns(UserWarning, match=r"1 of 6 .* '2\.png'"):
        images = Prepared(
            source, EvaluationView(8, 1.0), np.arange(6), source.labels, ("even", "odd"), 6
        ).decoded(workers=1)
    assert images.indices.tolist() == [0, 1, 3, 4, 5]
    assert images.required_labels().tolist() == [0, 1, 1, 0, 1]
    assert images.pixels(2)[0, 0, 0] == 3
    assert images.unreadable == 1


def test_no_readable_image_at_all_is_an_error() -> None:
    source = _OneBroken(_numbered(2), {0, 1})
    with pytest.raises(UsageError, match=r"2 of 2 .* it is torn"):
        Prepared(source, EvaluationView(8, 1.0), np.arange(2), None, (), 2).decoded(workers=1)


def test_transforms_get_the_pixels_of_their_position_and_order_is_kept() -> None:
    subject = subject_of(lambda images: images.mean((2, 3))[:, :2] * 255, _numbered(150))
    images = subject.labeled()
    plain = subject.features(images)[:, 0]
    moved = subject.features(images, lambda pixels, position: pixels + np.uint8(position % 7))[:, 0]
    assert plain.tolist() == pytest.approx(images.indices.tolist(), abs=1e-3)
    assert (moved - plain).tolist() == pytest.approx([p % 7 for p in range(150)], abs=1e-3)


def test_plain_images_of_the_data_pass_the_model_once() -> None:
    seen = 0

    def logits(images):  # type: ignore[no-untyped-def]
        nonlocal seen
        seen += len(images)
        return images.mean((2, 3))[:, :2]

    subject = subject_of(logits, _numbered(40))
    before = seen
    subject.probabilities(subject.labeled(10))
    once = seen
    subject.features(subject.labeled(10))
    assert seen == once > before
    subject.probabilities(subject.labeled())
    assert seen - once == 3 * (once - before)


def test_a_subset_says_of_how_many_it_is_one() -> None:
    subject = subject_of(lambda images: images.mean((2, 3))[:, :2], _numbered(40))
    few = subject.labeled(10)
    assert (len(few), few.total) == (10, 40)
    full = subject_of(lambda images: images.mean((2, 3))[:, :2], _numbered(40), profile="full")
    assert len(full.labeled(10)) == 40


def test_a_seeded_change_of_an_image_is_the_same_in_every_selection() -> None:
    pixels = np.zeros((6, 4, 4, 3), np.uint8)
    images = subject_of(lambda batch: batch.mean((2, 3)), arrays(pixels)).unlabeled()

    def noise(image: Image, rng: np.random.Generator) -> Image:
        return image + rng.integers(0, 255, image.shape, dtype=np.uint8)

    everything, part = (one.seeded((7, "noise"), noise) for one in (images, images.take([4, 2])))
    np.testing.assert_array_equal(part(pixels[0], 0), everything(pixels[0], 4))
    np.testing.assert_array_equal(part(pixels[0], 1), everything(pixels[0], 2))
    assert (everything(pixels[0], 2) != everything(pixels[0], 4)).any()
    other = images.seeded((8, "noise"), noise)
    assert (other(pixels[0], 2) != everything(pixels[0], 2)).any()


def test_probabilities_can_be_those_of_other_classes_of_the_model() -> None:
    shares = np.array([[0.1, 0.2, 0.7], [0.6, 0.3, 0.1]])
    source = arrays(np.zeros((2, 4, 4, 3), np.uint8), [0, 2], ["cat", "dog", "eel"])
    subject = subject_of(lambda batch: torch.from_numpy(shares).log()[: len(batch)], source)
    images = subject.labeled()
    two = subject.decisions.over(("eel", "cat"))
    expected = shares[:, [2, 0]] / shares[:, [2, 0]].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(subject.probabilities(images, selection=two), expected)
    unchanged = subject.probabilities(images, lambda pixels, at: pixels, selection=two)
    np.testing.assert_allclose(unchanged, expected)
