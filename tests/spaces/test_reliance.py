"""Which space a classifier relies on: hand-made shares, a transcription, a planted space."""

import csv
import json
from dataclasses import replace
from math import log2
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from PIL import Image as PillowImage
from scipy.stats import entropy as scipy_entropy

from tests.probes.painted import SPACES, Painted, Seeing
from unshortcut.errors import UsageError
from unshortcut.inference.features import Features
from unshortcut.probes.linear import LinearClassifier, Setting
from unshortcut.spaces.reliance import (
    Reliance,
    SpaceExample,
    SpaceReliance,
    correct_shares,
    entropy_bits,
    shares_of,
    space_reliance,
)
from unshortcut.spaces.reliance_plot import RelianceBars

TRAIN, TEST = Painted(90, seed=1), Painted(60, seed=2)


def classifier(
    weight: NDArray[np.float64], bias: NDArray[np.float64] | None = None
) -> LinearClassifier:
    rows = torch.from_numpy(weight).float()
    return LinearClassifier(
        0,
        Setting(1.0, 0.0),
        {},
        rows,
        torch.zeros(len(rows)) if bias is None else torch.from_numpy(bias).float(),
    )


def features(values: NDArray[np.float64], labels: list[int]) -> Features:
    classes = tuple(str(label) for label in range(max(labels) + 1))
    rows = values.astype(np.float32)
    return Features(rows, np.array(labels), classes, np.arange(len(rows)))


def reliance(shares: NDArray[np.float64], labels: NDArray[np.int64], classes: int) -> Reliance:
    spaces = ("invariant", "color", "rotation", "texture")[: shares.shape[1]]
    names = tuple(f"a class of a rather long name {label}" for label in range(classes))
    picture = np.zeros((8, 8, 3), np.uint8)
    examples = tuple(
        SpaceExample(s, "x/1.png", names[0], tuple(shares[0]), picture) for s in spaces
    )
    identities = tuple(f"x/{number}.png" for number in range(len(labels)))
    return Reliance(spaces, names, len(labels) + 5, identities, labels, shares, examples)


def test_shares_of_a_case_by_hand() -> None:
    """Two blocks of two columns, two classes; the centered weights are half the difference."""
    weight = np.array([[2.0, 0.0, 4.0, 1.0], [0.0, 0.0, 0.0, -1.0]])  # centered: ±(1, 0, 2, 1)
    rows = np.array(
        [
            [3.0, 9.0, 1.0, 1.0],  # class 0: 3 and 2 + 1
            [1.0, 5.0, 0.5, -1.0],  # class 0: 1 and 1 - 1
            [-4.0, 1.0, 1.0, 0.0],  # class 1: 4 and -2
            [1.0, 0.0, 1.0, 0.0],  # of class 1, and taken for class 0
        ]
    )
    right, shares = correct_shares([classifier(weight)], features(rows, [0, 0, 1, 1]), 2)
    assert right.tolist() == [True, True, True, False]
    np.testing.assert_allclose(shares[:3], [[0.5, 0.5], [1, 0], [1, 0]])


def test_where_nothing_is_positive_the_shares_are_equal() -> None:
    rows = np.array([[-1.0, -2.0, -3.0]])
    weight = np.array([[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]])
    decided_by_bias = classifier(weight, np.array([100.0, 0.0]))
    right, shares = correct_shares([decided_by_bias], features(rows, [0]), 3)
    assert right.all()
    np.testing.assert_allclose(shares, [[1 / 3] * 3])


def test_shares_are_those_of_a_plain_transcription() -> None:
    """Two classifiers; an image counts those that get it right."""
    random = np.random.default_rng(0)
    rows, labels = random.normal(size=(200, 12)), random.integers(0, 5, 200)
    weights = [random.normal(size=(5, 12)) + 3 for _ in range(2)]
    biases = [random.normal(size=5) for _ in range(2)]
    probes = [classifier(w, b) for w, b in zip(weights, biases, strict=True)]
    right, shares = correct_shares(probes, features(rows, labels.tolist()), 3)
    for i, (row, label) in enumerate(zip(rows, labels, strict=True)):
        found = []
        for weight, bias in zip(weights, biases, strict=True):
            logits = [sum(w * x for w, x in zip(line, row, strict=True)) for line in weight]
            if np.argmax(np.array(logits) + bias) != label:
                continue
            parts = []
            for space in range(3):
                part = 0.0
                for column in range(4 * space, 4 * space + 4):
                    average = sum(weight[k][column] for k in range(5)) / 5
                    part += row[column] * (weight[label][column] - average)
                parts.append(max(part, 0.0))
            found.append([part / sum(parts) for part in parts])
        assert right[i] == bool(found)
        if found:
            np.testing.assert_allclose(shares[i], np.mean(found, axis=0), atol=1e-6)
    assert 20 < right.sum() < 180


def test_a_vector_added_to_all_classes_changes_nothing() -> None:
    random = np.random.default_rng(1)
    rows, weight = random.normal(size=(50, 8)), random.normal(size=(4, 8))
    seen = features(rows, random.integers(0, 4, 50).tolist())
    moved = weight + random.normal(size=8)
    for plain, other in zip(
        correct_shares([classifier(weight)], seen, 2),
        correct_shares([classifier(moved)], seen, 2),
        strict=True,
    ):
        np.testing.assert_allclose(plain, other, atol=1e-5)


def test_entropies_are_those_of_the_formula() -> None:
    shares = shares_of(np.random.default_rng(2).normal(size=(100, 4)))
    expected = [-sum(p * log2(p) for p in row if p > 0) for row in shares.tolist()]
    np.testing.assert_allclose(entropy_bits(shares), expected, atol=1e-12)
    np.testing.assert_array_equal(entropy_bits(np.eye(4)), np.zeros(4))
    assert entropy_bits(np.full(4, 0.25)) == 2


def test_means_and_entropies_overall_and_by_class() -> None:
    shares = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [0.9, 0.1]])
    one = reliance(shares, np.array([0, 0, 2, 2]), 3)
    np.testing.assert_allclose(one.overall, [0.6, 0.4])
    np.testing.assert_allclose(one.per_class, [[0.5, 0.5], [np.nan, np.nan], [0.7, 0.3]])
    np.testing.assert_allclose(one.class_entropies, [1, np.nan, scipy_entropy([0.7, 0.3], base=2)])
    assert one.entropy == pytest.approx(scipy_entropy([0.6, 0.4], base=2))
    each = [0, 0, 1, scipy_entropy([0.9, 0.1], base=2)]
    np.testing.assert_allclose(one.image_entropies, each)
    plain = json.loads(json.dumps(one.to_dict()))
    assert (plain["num_images"], plain["correct"]) == (9, 4)
    assert plain["shares"] == {"invariant": pytest.approx(0.6), "color": pytest.approx(0.4)}
    assert plain["mean_image_entropy_bits"] == pytest.approx(np.mean(each))
    assert list(plain["classes"]) == [one.classes[0], one.classes[2]]
    assert plain["classes"][one.classes[0]]["entropy_bits"] == 1


def test_a_space_that_alone_knows_the_class_has_nearly_all_the_shares(tmp_path: Path) -> None:
    result = space_reliance(Seeing().model(), TRAIN, tests={"test": TEST}, seeds=2)
    test = result.tests["test"]
    assert result.spaces == SPACES and len(test.labels) == len(TEST)
    assert test.overall[1] > 0.95 and test.per_class[:, 1].min() > 0.9
    assert test.entropy < 0.35 and test.image_entropies.mean() <= test.entropy
    for space, example in enumerate(test.examples):
        assert example.space == SPACES[space]
        assert example.shares[space] == test.shares[:, space].max()
        place = test.identities.index(example.identity)
        np.testing.assert_allclose(test.shares[place], example.shares)
        shown = TEST.image(int(Path(example.identity).stem)).pixels()
        np.testing.assert_array_equal(example.pixels, shown)
    result.write_images(tmp_path / "images.csv")
    lines = list(csv.DictReader((tmp_path / "images.csv").read_text().splitlines()))
    assert len(lines) == len(TEST) and lines[5]["image"] == TEST.identity(5)
    assert float(lines[5]["color"]) == pytest.approx(test.shares[5, 1], abs=1e-6)


def test_of_many_classes_the_most_one_sided_and_the_most_even_are_drawn() -> None:
    labels = np.arange(200) % 100
    shares = np.random.default_rng(0).dirichlet([0.5] * 4, 100)[labels]
    one = reliance(shares, labels, 100)
    bars = RelianceBars.of(one)
    assert len(bars.names) == 25 and bars.note.startswith("24 of 100 classes")
    ranked = np.sort(one.class_entropies)
    np.testing.assert_array_equal(bars.entropies[1:], [*ranked[:12], *ranked[-12:]])
    few = RelianceBars.of(reliance(shares[:8], labels[:8], 10))
    assert len(few.names) == 9 and not few.note, "all, but for classes without a right prediction"
    np.testing.assert_array_equal(few.shares[1:], shares[:8])


def test_the_picture_grows_with_the_bars(tmp_path: Path) -> None:
    heights = []
    for classes in (2, 100):
        labels = np.arange(classes * 2) % classes
        shares = np.random.default_rng(classes).dirichlet([0.5] * 4, len(labels))
        result = SpaceReliance("run", SPACES, {"val": reliance(shares, labels, classes)})
        result.plot(tmp_path / "reliance.png")
        with PillowImage.open(tmp_path / "reliance.png") as picture:
            assert picture.format == "PNG" and len(picture.convert("RGB").getcolors(1 << 24)) > 20
            heights.append(picture.height)
    assert heights[0] < heights[1] < 3 * heights[0]


def test_what_cannot_be_seen_is_said() -> None:
    model = Seeing().model()
    with pytest.raises(UsageError, match="'seeing' has no spaces"):
        space_reliance(replace(model, spaces=None), TRAIN, tests=[TEST])
    with pytest.raises(UsageError, match="cannot be split into 5 equal blocks"):
        space_reliance(replace(model, spaces=tuple("abcde")), TRAIN, tests=[TEST])
    with pytest.raises(UsageError, match="seeds must be at least 1, not 0"):
        space_reliance(model, TRAIN, tests=[TEST], seeds=0)
    other = Painted(6)
    other.labels = (Painted(6).labels + 1) % 3
    with pytest.raises(UsageError, match="no image of 'wrong' is predicted correctly"):
        space_reliance(model, TRAIN, tests={"wrong": other})
