"""Does the model use it? One that sees compression does, one that sees coarse shapes does not."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.inspection.models import Coarse, Detail
from tests.inspection.planted import write_images
from unshortcut import inspect_data
from unshortcut.inspection.equalizing import EQUALIZERS
from unshortcut.properties.pixel_facts import PIXEL_NAMES, SIDE, pixel_facts


def noisy_by_class(
    image: Image.Image, label: int, random: np.random.Generator
) -> tuple[Image.Image, dict[str, int]]:
    """Fine noise everywhere, which a low quality removes from one class."""
    pixels = np.asarray(image).astype(np.float64) + random.normal(0, 20, np.shape(image))
    quality = int(random.integers(15, 25) if label == 0 else random.integers(85, 96))
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8)), {"quality": quality}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("quality")
    return write_images(root, noisy_by_class, splits=("train", "val"), count=80, classes=2, size=48)


def test_a_model_that_sees_detail_uses_the_quality(folder: Path) -> None:
    report = inspect_data(folder, Detail(), max_images=60)
    use = report.findings.use_of("jpeg_quality")
    assert use is not None and use.used
    assert use.accuracy.value > 0.9 > use.accuracy_equal.value + 0.2
    assert use.changed.value > 0.3 > 0.1 > use.control.value
    assert "The model uses it" in str(report)


def test_a_model_that_sees_coarse_shapes_does_not(folder: Path) -> None:
    report = inspect_data(folder, Coarse(), max_images=60)
    use = report.findings.use_of("jpeg_quality")
    assert use is not None and not use.used
    assert use.changed.value < 0.1
    assert report.findings.metrics()["alarms"] == 1
    assert report.findings.metrics()["properties_used"] == 0


@pytest.mark.parametrize("name", PIXEL_NAMES)
def test_an_image_gets_the_value_that_it_is_given(name: str) -> None:
    noise = np.random.default_rng(0).integers(60, 180, (SIDE, SIDE, 3)).astype(np.uint8)
    at = PIXEL_NAMES.index(name)
    before = float(pixel_facts(noise).values[at])
    wanted = 1.0 if name == "grayness" else 0.8 * before
    after = float(pixel_facts(EQUALIZERS[name].apply(noise, wanted)).values[at])
    assert abs(after - wanted) <= 0.1 * wanted < abs(before - wanted) + 1e-9


def test_sizes_and_qualities_are_made_equal() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (60, 90, 3)).astype(np.uint8)
    assert EQUALIZERS["width"].apply(noise, 30).shape == (30, 45, 3)
    assert EQUALIZERS["height"].apply(noise, 100) is noise, "nothing is enlarged"
    assert EQUALIZERS["aspect"].apply(noise, 0.0).shape == (60, 60, 3)
    assert EQUALIZERS["aspect"].apply(noise, 1.0).shape == (45, 90, 3)
    assert EQUALIZERS["jpeg_quality"].apply(noise, 100) is noise
    rough, fine = (EQUALIZERS["format"].apply(noise, q).astype(int) for q in (10, 90))
    assert np.abs(rough - noise).mean() > np.abs(fine - noise).mean() > 0


def test_the_common_value_is_one_that_every_image_can_have() -> None:
    values, labels = np.array([90.0, 92, 94, 40, 42, 44]), np.array([0, 0, 0, 1, 1, 1])
    assert EQUALIZERS["jpeg_quality"].target(values, labels) == 42
    assert EQUALIZERS["brightness"].target(values, labels) == np.median(values)
    assert EQUALIZERS["grayness"].target(values, labels) == 1
