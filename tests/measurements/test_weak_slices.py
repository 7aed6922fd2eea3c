"""Weak slices of models whose weaknesses are known."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor

from tests.measuring.made import arrays, subject_of
from unshortcut.auditing.result_cache import from_json, to_json
from unshortcut.data.open import open_data
from unshortcut.measurements.weak_slices import WeakSlices, WeakSlicesResult
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.exhibits import Table
from unshortcut.measuring.subjects.subject import Subject

SIDE, COUNT = 32, 240


def measured(subject: Subject) -> WeakSlicesResult:
    return WeakSlices().measure(subject, lambda done, total: None)


def colors(images: Tensor) -> Tensor:
    """Features that a slice may show in: the mean colors."""
    return images.mean(dim=(2, 3))


def noise(images: Tensor) -> Tensor:
    """Features that say nothing, so that no direction tells errors from hits."""
    codes = (images[:, :, 6:20, 6:20] * 255).round().sum(dim=(1, 2, 3))
    return torch.stack([torch.sin(codes * factor) for factor in (1.0, 2.3, 5.1)], dim=1)


def drawn(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Noise of two brightnesses in both classes; the class is the color of the first pixels."""
    rng = np.random.default_rng(seed)
    labels = np.arange(COUNT) % 2
    light = np.where(rng.random(COUNT) < 0.3, 40, 160)
    pixels = rng.integers(0, 60, (COUNT, SIDE, SIDE, 3)) + light[:, None, None, None]
    pixels[:, :4, :4] = np.where(labels == 0, 0, 255)[:, None, None, None]
    return pixels.astype(np.uint8), labels


def wrong_on_dark_ones_of_the_first_class(images: Tensor) -> Tensor:
    second = images[:, :, 0, 0].mean(dim=1) > 0.5
    dark = images[:, :, 8:].mean(dim=(1, 2, 3)) < 0.4
    answer = torch.where(dark & ~second, True, second).float()
    return torch.stack([1 - answer, answer], dim=1)


def test_dark_images_of_a_class_that_fail_are_found_by_their_brightness() -> None:
    source = arrays(*drawn(), ("dusk", "day"))
    result = measured(subject_of(wrong_on_dark_ones_of_the_first_class, source, features=noise))
    assert result.tried == 1  # there are no errors in the other class
    (weak,) = result.slices
    assert (weak.label, weak.inside.value, weak.outside.value) == ("dusk", 0, 1)
    assert weak.property in ("brightness", "red", "green", "blue", "border_brightness")
    assert " at most 0." in weak.text
    measurement = WeakSlices()
    metrics = measurement.metrics(result, None)
    assert metrics["weak_slices"].value == 1 and metrics["weakest_slice_gap"].value == 1
    low = metrics["weakest_slice_gap"].low
    assert low is not None and low > 0.5
    finding = measurement.finding(result)
    assert finding is not None
    assert f"0 % of the images of 'dusk' with {weak.text[0].lower()}{weak.text[1:]}" in finding.text
    assert to_json(from_json(WeakSlicesResult, to_json(result))) == to_json(result)
    table = measurement.exhibits({"it": result}, None)[-1]
    assert isinstance(table, Table) and table.rows[0][2] == weak.text


def test_images_that_fail_alike_are_found_by_the_features_as_well() -> None:
    source = arrays(*drawn(), ("dusk", "day"))
    result = measured(subject_of(wrong_on_dark_ones_of_the_first_class, source, features=colors))
    assert sorted(one.property == "" for one in result.slices) == [False, True]
    assert WeakSlices().metrics(result, None)["weak_slices"].value == 1  # of one class


def by_first_pixels(images: Tensor) -> Tensor:
    """Wrong where the last square is lighter at its left, which shows in no property."""
    second = images[:, :, :4, :4].mean(dim=(1, 2, 3)) > 0.5
    failing = images[:, :, -10:-2, -10:-6].mean(dim=(1, 2, 3)) > 0.5
    answer = (second ^ failing).float()
    return torch.stack([1 - answer, answer], dim=1)


def square(left: bool) -> np.ndarray:
    """8 × 8 pixels, one side white and the other black."""
    pixels = np.zeros((8, 8, 3), np.uint8)
    pixels[:, :4] = 255
    return pixels if left else pixels[:, ::-1]


def test_files_of_low_quality_that_fail_are_found_by_their_quality(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for index in range(COUNT):
        name = ("first", "second")[index % 2]
        low = rng.random() < 0.3
        pixels = rng.integers(60, 120, (SIDE, SIDE, 3)).astype(np.uint8)
        pixels[:8, :8] = 255 * (index % 2)
        pixels[-10:-2, -10:-2] = square(low and name == "first")
        (tmp_path / name).mkdir(exist_ok=True)
        quality = int(rng.integers(30, 50) if low else rng.integers(80, 95))
        # without chroma subsampling, the squares stay what they are
        path = tmp_path / name / f"{index}.jpg"
        Image.fromarray(pixels).save(path, quality=quality, subsampling=0)
    subject = subject_of(by_first_pixels, open_data(str(tmp_path)), features=noise)
    (weak,) = measured(subject).slices
    assert weak.label == "first" and weak.inside.value < 0.1 < 0.9 < weak.outside.value
    assert weak.property == "jpeg_quality" and weak.text.startswith("JPEG quality at most ")
    bound = int(weak.text.split()[-1])
    assert 48 <= bound < 80


@pytest.mark.parametrize("features", [noise, colors])
def test_errors_at_random_are_rarely_a_slice(features) -> None:  # type: ignore[no-untyped-def]
    alarms = 0
    for seed in range(12):
        rng = np.random.default_rng(1000 + seed)
        pixels, labels = drawn(seed)
        for one, wrong in zip(pixels, rng.random(COUNT) < 0.3, strict=True):
            one[-10:-2, -10:-2] = square(wrong)
        subject = subject_of(by_first_pixels, arrays(pixels, labels, ("a", "b")), features=features)
        alarms += bool(measured(subject).slices)
    assert alarms <= 2


def test_a_model_without_errors_has_nothing_to_slice() -> None:
    pixels, labels = drawn()
    pixels[:, -10:-2, -10:-2] = square(left=False)
    with pytest.raises(NotApplicable, match="both errors and hits"):
        measured(subject_of(by_first_pixels, arrays(pixels, labels, ("a", "b")), features=noise))
