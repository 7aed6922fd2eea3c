"""Corrupted labels: matrices by hand, frequencies, trusted images, and what is refused."""

import numpy as np
import pytest

from unshortcut.data.class_files import read_hierarchy
from unshortcut.data.loader import ViewLoader
from unshortcut.data.named import ArraySource
from unshortcut.data.noisy_labels import (
    Kind,
    NoisyLabels,
    choose_gold,
    corrupted,
    flip_corruption,
    gold_images,
    hierarchical_corruption,
    silver_images,
    uniform_corruption,
)
from unshortcut.data.shapes import Shapes
from unshortcut.data.source import Joined, Subset
from unshortcut.errors import UsageError
from unshortcut.randomness import generator

CLASSES = ("a", "b", "c", "d")


def images(count: int = 400, classes: tuple[str, ...] = CLASSES) -> ArraySource:
    pixels = np.zeros((count, 8, 8, 3), np.uint8)
    return ArraySource("images", pixels, classes, np.arange(count) % len(classes))


def test_the_matrices_of_two_to_four_classes_are_those_by_hand() -> None:
    expected = [[0.85, 0.05, 0.05, 0.05], [0.05, 0.85, 0.05, 0.05]]
    np.testing.assert_allclose(uniform_corruption(4, 0.2)[:2], expected)
    np.testing.assert_allclose(flip_corruption(2, 0.3, generator(0, "")), [[0.7, 0.3], [0.3, 0.7]])
    np.testing.assert_allclose(
        hierarchical_corruption(["x", "y", "x", "x"], 0.4),
        [[0.6, 0, 0.2, 0.2], [0, 1, 0, 0], [0.2, 0, 0.6, 0.2], [0.2, 0, 0.2, 0.6]],
    )


@pytest.mark.parametrize("p", [0.0, 0.37, 1.0])
def test_every_row_is_a_distribution_and_a_flip_has_one_other_class(p: float) -> None:
    flip = flip_corruption(100, p, generator(1, "flip"))
    coarse = list(read_hierarchy("cifar100").values())
    for matrix in (uniform_corruption(100, p), flip, hierarchical_corruption(coarse, p)):
        np.testing.assert_allclose(matrix.sum(axis=1), 1.0)
        assert (matrix >= 0).all()
    others = flip * (1 - np.eye(100))
    assert ((others > 0).sum(axis=1) == (p > 0)).all()
    if p:
        assert len(set(others.argmax(axis=1))) > 40, "classes are drawn one by one"
        again, other = (flip_corruption(100, p, generator(seed, "flip")) for seed in (1, 2))
        assert np.array_equal(flip, again) and not np.array_equal(flip, other)


def test_labels_are_drawn_with_the_probabilities_of_their_rows() -> None:
    matrix = np.array([[0.5, 0.5, 0.0], [0.0, 0.9, 0.1], [0.2, 0.3, 0.5]])
    labels = np.repeat(np.arange(3), 40_000)
    drawn = corrupted(labels, matrix, generator(3, "draw"))
    counts = np.array([np.bincount(drawn[labels == i], minlength=3) for i in range(3)])
    np.testing.assert_allclose(counts / 40_000, matrix, atol=4 * 0.5 / 200)
    assert counts[0, 2] == counts[1, 0] == 0


def test_gold_images_have_every_class_and_their_labels_and_the_others_are_corrupted() -> None:
    source = images()
    noisy = NoisyLabels(source, "uniform", 0.8, 0.1, seed=5)
    assert noisy.labels is not None and noisy.trusted is not None and source.labels is not None
    assert noisy.trusted.sum() == 40
    assert set(noisy.labels[noisy.trusted]) == set(range(4))
    assert np.array_equal(noisy.labels[noisy.trusted], source.labels[noisy.trusted])
    kept = (noisy.labels == source.labels)[~noisy.trusted].mean()
    assert kept == pytest.approx(0.2 + 0.8 / 4, abs=0.1)
    again, other = (NoisyLabels(source, "uniform", 0.8, 0.1, seed=seed) for seed in (5, 6))
    assert np.array_equal(again.labels, noisy.labels) and again.fingerprint() == noisy.fingerprint()
    assert not np.array_equal(other.labels, noisy.labels)
    assert len({noisy.fingerprint(), other.fingerprint(), source.fingerprint()}) == 3


def test_few_gold_images_are_shuffled_until_every_class_is_there() -> None:
    labels = np.arange(400) % 4
    chosen = [choose_gold(labels, 0.01, generator(seed, "")) for seed in range(20)]
    assert all(sorted(labels[gold]) == [0, 1, 2, 3] for gold in chosen)
    assert len({gold.tobytes() for gold in chosen}) == 20


def test_trust_goes_with_the_labels_through_subsets_joined_sources_and_the_loader() -> None:
    noisy = NoisyLabels(images(32), "flip", 0.5, 0.5, seed=0)
    gold, silver = gold_images(noisy), silver_images(noisy)
    assert len(gold) == len(silver) == 16
    assert gold.trusted is not None and gold.trusted.all()
    joined = Joined(silver, gold)
    assert joined.trusted is not None and joined.trusted.tolist() == [False] * 16 + [True] * 16
    assert Joined(noisy, images(4)).trusted is None
    part = Subset(noisy, np.array([3, 1]))
    assert part.trusted is not None and part.trusted.tolist() == noisy.trusted[[3, 1]].tolist()

    def view(image: object, *key: int) -> dict[str, np.ndarray]:
        return {"query": np.zeros((8, 8, 3), np.uint8)}

    for batch in ViewLoader(noisy, view, batch_size=8, seed=0):
        assert batch["trusted"] is not None
        index = batch["index"].numpy()
        assert batch["trusted"].tolist() == noisy.trusted[index].tolist()
        assert batch["label"].tolist() == noisy.labels[index].tolist()
    assert next(iter(ViewLoader(images(8), view, batch_size=8, seed=0)))["trusted"] is None


def test_the_named_hierarchies_fit_their_data() -> None:
    cifar = read_hierarchy("cifar100")
    assert list(cifar) == sorted(cifar) and len(cifar) == 100
    sizes = [list(cifar.values()).count(coarse) for coarse in set(cifar.values())]
    assert sizes == [5] * 20
    shapes = Shapes("train", count=800)
    noisy = NoisyLabels(shapes, "hierarchical", 1.0, 0.1, 0, read_hierarchy("shapes"))
    coarse = [read_hierarchy("shapes")[name] for name in shapes.classes or ()]
    assert noisy.labels is not None and shapes.labels is not None
    changed = noisy.labels != shapes.labels
    assert changed.sum() == 720
    for given, true in zip(noisy.labels[changed], shapes.labels[changed], strict=True):
        assert coarse[given] == coarse[true]


@pytest.mark.parametrize(
    ("kind", "p", "gold", "said"),
    [
        ("uniform", 1.2, 0.1, r"must be in \[0, 1\], got 1.2"),
        ("hierarchical", 0.5, 0.1, "needs a hierarchy"),
        ("uniform", 0.5, 0.005, "is 2 of 400 images, too few to have every one of 4 classes"),
    ],
)
def test_what_cannot_be_is_told(kind: Kind, p: float, gold: float, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        NoisyLabels(images(), kind, p, gold, 0)


def test_a_class_without_a_coarse_class_and_data_without_labels_are_told() -> None:
    with pytest.raises(UsageError, match="for 1 of 4 classes; the first is 'd'"):
        NoisyLabels(images(), "hierarchical", 0.5, 0.1, 0, dict.fromkeys("abc", "x"))
    unlabeled = ArraySource("images", np.zeros((4, 8, 8, 3), np.uint8))
    with pytest.raises(UsageError, match="needs labels, and the data have none"):
        NoisyLabels(unlabeled, "uniform", 0.5, 0.1, 0)
