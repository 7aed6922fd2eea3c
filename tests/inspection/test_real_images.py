"""Cues planted in photographs are found, and photographs as they are raise no alarm."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.real_data import real_data
from unshortcut import inspect_data, open_data
from unshortcut.data.source import ImageSource, Subset

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


def test_a_tint_of_photographs_tells_the_class_and_is_no_alarm() -> None:
    """Photographs of some classes have colors of their own; a tint makes them tell more."""

    def strength(cue: str) -> float:
        spec = f"{cue}{real_data('imagenette-112.tar')}@val"
        found = inspect_data(first(open_data(spec), 400)).findings
        assert not isinstance(found.properties, str) and found.metrics()["alarms"] == 0
        content = {one.about.name: one for one in found.properties.of("content")}
        most = max(
            (content[name] for name in ("red", "green", "blue")), key=lambda one: one.strength
        )
        assert most.significant
        return most.strength

    assert strength("tint=1,strength=0.6:") > 1.4 * strength("")


def test_wrong_labels_of_photographs_are_listed_by_a_model_that_knows_the_classes() -> None:
    source = first(open_data(f"wrong-labels=0.05:{real_data('pacs-96.tar')}"), 900)
    true = open_data(real_data("pacs-96.tar"))
    assert source.labels is not None and true.labels is not None
    wrong = np.flatnonzero(source.labels != true.labels[source.indices])
    model = inspect_data(source, "embedded").findings.model
    assert model is not None and not isinstance(model.label_errors, str)
    listed = model.label_errors.numbers
    assert np.isin(wrong, listed).mean() > 0.5
    assert np.isin(listed, wrong).mean() > 3 * len(wrong) / len(source)


def test_a_model_that_does_not_know_the_classes_of_photographs_says_so() -> None:
    source = first(open_data(real_data("imagenette-112.tar"), split="val"), 500)
    report = inspect_data(source, "embedded")
    assert report.findings.model is not None
    assert isinstance(report.findings.model.label_errors, str)
    assert "are not listed" in str(report)


def first(source: ImageSource, count: int) -> Subset:
    """Some images of all classes."""
    rows = np.random.default_rng(0).permutation(len(source))[:count]
    return Subset(source, np.sort(rows))
