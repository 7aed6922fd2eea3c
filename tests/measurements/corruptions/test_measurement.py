"""Corruptions of images before a model whose decision is known."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from torch import Tensor

from tests.measuring.made import arrays, subject_of
from unshortcut.auditing.result_cache import from_json, to_json
from unshortcut.imaging.corruptions import CORRUPTIONS, corrupt
from unshortcut.measurements.corruptions import Corruptions
from unshortcut.measuring.corruption_accuracy import Conditions, CorruptionsResult
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.estimates import Estimate
from unshortcut.measuring.exhibits import Note, Pictures, Plot, Table
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.randomness import generator

CLASSES = ("bright", "dark")
SIDE = 16
LIMIT = 0.45
"""Of the mean level, below which an image is dark."""


def pictures() -> Any:
    """Six of each class around the limit, some near enough to be pushed over it."""
    random = np.random.default_rng(0)
    levels = [150, 140, 132, 124, 121, 118, 110, 108, 100, 90, 60, 30]
    noise = random.integers(-20, 21, (len(levels), SIDE, SIDE, 3))
    pixels = (np.array(levels)[:, None, None, None] + noise).clip(0, 255).astype(np.uint8)
    return pixels, [0 if np.mean(one) / 255 > LIMIT else 1 for one in pixels]


def by_brightness(images: Tensor) -> Tensor:
    over = images.mean(dim=(1, 2, 3)) - LIMIT
    return over[:, None] * over.new_tensor([[100.0, -100.0]])


def subject(**settings: Any) -> Subject:
    pixels, labels = pictures()
    return subject_of(by_brightness, arrays(pixels, labels, CLASSES), **settings)


TOLD: list[tuple[int, int]] = []


@pytest.fixture(scope="module")
def result() -> CorruptionsResult:
    return Corruptions().measure(subject(), lambda done, total: TOLD.append((done, total)))


def loop(name: str, severity: int, seed: int, severities: str) -> float:
    """The accuracy, an image at a time."""
    pixels, labels = pictures()
    right = []
    for index, (image, label) in enumerate(zip(pixels, labels, strict=True)):
        rng = generator(seed, "corruption", name, severity, index)
        seen = corrupt(image, name, severity, rng, severities)
        right.append((0 if seen.mean() / 255 > LIMIT else 1) == label)
    return float(np.mean(right))


@pytest.mark.parametrize("name", ["gaussian_noise", "brightness", "fog", "elastic_transform"])
def test_accuracies_are_those_of_a_loop_over_images(result: CorruptionsResult, name: str) -> None:
    expected = [loop(name, severity, 0, "imagenet") for severity in range(1, 6)]
    assert result.accuracy[name] == pytest.approx(expected)


def test_severities_and_seeds_count(result: CorruptionsResult) -> None:
    other = Corruptions().measure(subject(severities="cifar", seed=1), lambda done, total: None)
    for name in ("fog", "brightness"):
        expected = [loop(name, severity, 1, "cifar") for severity in range(1, 6)]
        assert other.accuracy[name] == pytest.approx(expected)
    assert other.accuracy != result.accuracy
    assert other.pictures[0] == result.pictures[0]
    assert all(one != two for one, two in zip(other.pictures[1:], result.pictures[1:], strict=True))


def test_what_a_corruption_does_shows(result: CorruptionsResult) -> None:
    """Brightness makes dark images bright, and pixels in another order leave the mean alone."""
    assert result.clean.value == 1 and result.conditions.num_images == 12
    assert result.accuracy["brightness"][4] == pytest.approx(0.5, abs=0.1)
    assert min(result.accuracy["glass_blur"]) == 1
    assert set(result.accuracy) == set(CORRUPTIONS)
    assert result.drop.value == pytest.approx(1 - result.corrupted.value)


def test_progress_is_told_of_all_passes(result: CorruptionsResult) -> None:
    assert TOLD[-1] == (75 * 12, 75 * 12)
    assert [done for done, _ in TOLD] == sorted(done for done, _ in TOLD)


def test_a_result_is_read_back_as_it_was(result: CorruptionsResult) -> None:
    assert from_json(CorruptionsResult, to_json(result)) == result


def test_an_mce_says_what_it_cannot_be_compared_with(result: CorruptionsResult) -> None:
    metrics = Corruptions().metrics(result, None)
    assert "snow and frost use generated textures" in metrics["mce"].note
    assert "means little" in metrics["mce"].note and "2 classes at 16 px" in metrics["mce"].note
    assert "means little" in metrics["mce_13"].note and not metrics["mce_13"].headline
    assert "generated textures" not in metrics["mce_13"].note
    notes = [one for one in Corruptions().exhibits({"a": result}, None) if isinstance(one, Note)]
    assert any(note.warning and "means little" in note.text for note in notes)


@pytest.mark.parametrize(
    ("imagenet", "size", "severities", "comparable"),
    [
        (True, 224, "imagenet", True),
        (True, 224, "cifar", False),
        (True, 64, "imagenet", False),
        (False, 224, "imagenet", False),
    ],
)
def test_only_imagenet_at_its_size_and_severities_compares_with_alexnet(
    result: CorruptionsResult, imagenet: bool, size: int, severities: Any, comparable: bool
) -> None:
    conditions = Conditions(12, 12, "", size, 1000 if imagenet else 100, imagenet, severities)
    metrics = Corruptions().metrics(replace(result, conditions=conditions), None)
    assert ("means little" not in metrics["mce"].note) == comparable
    assert metrics["mce_13"].headline == comparable
    assert "generated textures" in metrics["mce"].note


def test_a_baseline_takes_alexnets_place(result: CorruptionsResult) -> None:
    baseline = replace(result, mistakes=dict.fromkeys(result.mistakes, "1" * 12))
    metrics = Corruptions().metrics(result, baseline)
    expected = np.mean([(1 - np.mean(levels)) / 0.2 for levels in result.accuracy.values()])
    assert metrics["mce"].value == pytest.approx(expected) and "baseline" in metrics["mce"].label
    assert "AlexNet" not in metrics["mce"].note


def test_a_baseline_without_errors_under_a_corruption_is_named(result: CorruptionsResult) -> None:
    mistakes = dict.fromkeys(result.mistakes, "1" * 12) | {"fog": "0" * 12}
    metrics = Corruptions().metrics(result, replace(result, mistakes=mistakes))
    assert np.isnan(metrics["mce"].value) and np.isnan(metrics["mce_13"].value)
    assert "no errors under fog" in metrics["mce"].note


def test_the_page_shows_models_together(result: CorruptionsResult) -> None:
    exhibits = Corruptions().exhibits({"a": result, "b": result}, None)
    plots = [one for one in exhibits if isinstance(one, Plot)]
    assert len(plots) == 4  # by severity, by group, and a heat map a model
    json.dumps([plot.figure for plot in plots])
    (table,) = [one for one in exhibits if isinstance(one, Table)]
    assert [column.title for column in table.columns[2:]] == ["Model", "Accuracy", "CE"]
    assert len(table.rows) == 30
    fog = next(row for row in table.rows if row[0] == "fog" and row[2] == "b")
    accuracy = np.mean(result.accuracy["fog"])
    assert fog[1] == "weather"
    assert fog[3:] == pytest.approx((accuracy, (1 - accuracy) / 0.819324))
    (sheet,) = [one for one in exhibits if isinstance(one, Pictures)]
    assert [len(shown) for _, shown in sheet.rows] == [1, 3, 4, 4, 4]
    assert sheet.rows[1][1][0].caption == "gaussian noise"


def test_the_verdict_names_the_loss_and_the_worst_group(result: CorruptionsResult) -> None:
    groups = {
        "noise": Estimate(0.3, 0.2, 0.4),
        "blur": Estimate(0.5, 0.4, 0.6),
        "weather": Estimate(0.6, 0.5, 0.7),
        "digital": Estimate(0.7, 0.6, 0.8),
    }
    lost = replace(result, drop=Estimate(0.38, 0.3, 0.45), groups=groups)
    finding = Corruptions().finding(lost)
    assert finding is not None and 0 < finding.weight <= 1
    assert finding.text == "loses 38 points of accuracy under corruptions, most under noise"
    assert Corruptions().finding(replace(result, drop=Estimate(0.06, -0.02, 0.14))) is None


def test_images_without_labels_have_no_accuracy() -> None:
    unlabeled = subject_of(by_brightness, arrays(pictures()[0]))
    with pytest.raises(NotApplicable, match="labels"):
        Corruptions().measure(unlabeled, lambda done, total: None)


def test_images_too_small_to_corrupt_are_said_to_be() -> None:
    tiny = arrays(np.zeros((4, 6, 6, 3), np.uint8), [0, 1, 0, 1], CLASSES)
    with pytest.raises(NotApplicable, match="8 px"):
        Corruptions().measure(subject_of(by_brightness, tiny), lambda done, total: None)
