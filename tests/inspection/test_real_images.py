"""Cues planted in photographs are found, and photographs as they are raise no alarm."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.real_data import real_data
from unshortcut import inspect_data, open_data

CLASSES, COUNT, LEAKS = (0, 1, 3), 40, 4


@pytest.fixture(scope="module")
def photographs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Photographs of three classes, one at a low quality, and some of them again in `val`."""
    root = tmp_path_factory.mktemp("photographs")
    tar = real_data("imagenette-112.tar")
    random = np.random.default_rng(0)
    for split in ("train", "val"):
        source = open_data(tar, split=split)
        assert source.labels is not None
        for label in CLASSES:
            for folder in ("train", "val"):
                (root / folder / str(label)).mkdir(parents=True, exist_ok=True)
            for number, index in enumerate(np.flatnonzero(source.labels == label)[:COUNT]):
                quality = int(random.integers(35, 45) if label == 0 else random.integers(80, 95))
                image = Image.fromarray(source.image(int(index)).pixels())
                image.save(root / split / str(label) / f"{number}.jpg", quality=quality)
                if split == "train" and number < LEAKS:
                    copy = image.resize((90, 90)).crop((1, 2, 88, 89))
                    copy.save(root / "val" / str(label) / f"copy{number}.jpg", quality=quality)
    return root


def test_a_quality_and_copies_in_photographs_are_found(photographs: Path) -> None:
    found = inspect_data(photographs).findings
    assert not isinstance(found.properties, str)
    assert [one.about.name for one in found.properties.alarms] == ["jpeg_quality"]
    names = {found.collection.identity(int(number)) for number in found.leaked}
    planted = {f"val/{label}/copy{number}.jpg" for label in CLASSES for number in range(LEAKS)}
    assert names <= planted and len(names) >= len(planted) - 1
    assert len(found.copies.pairs) == len(names), "nothing else is a copy"


def test_photographs_as_they_are_raise_no_alarm_and_have_no_copies(tmp_path: Path) -> None:
    source = open_data(real_data("imagenette-112.tar"), split="val")
    assert source.labels is not None and source.classes is not None
    for label in CLASSES:
        (tmp_path / str(label)).mkdir()
        for number, index in enumerate(np.flatnonzero(source.labels == label)[:COUNT]):
            data = source.encoded(int(index))
            assert data is not None
            (tmp_path / str(label) / f"{number}.jpg").write_bytes(data)
    metrics = inspect_data(tmp_path).findings.metrics()
    assert metrics["alarms"] == 0 and metrics["copies"] == 0
