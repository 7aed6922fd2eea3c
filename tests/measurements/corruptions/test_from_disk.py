"""Corrupted images that are read from the folders of ImageNet-C."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from torch import Tensor

from tests.data.images import png
from tests.measuring.made import subject_of
from unshortcut.data.open import open_data
from unshortcut.errors import UsageError
from unshortcut.imaging.corruptions import CORRUPTIONS, GROUPS
from unshortcut.measurements.corruptions import Corruptions
from unshortcut.measuring.corruption_accuracy import CorruptionsResult
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.exhibits import Note
from unshortcut.measuring.subjects.corrupted import open_corrupted
from unshortcut.measuring.subjects.subject import Subject

CLASSES = ("n01440764", "n01443537")
BRIGHT, DARK = 200, 50
ALEXNET = (
    *(0.886428, 0.894468, 0.922640, 0.819880, 0.826268, 0.785948, 0.798360, 0.866816, 0.826572),
    *(0.819324, 0.564592, 0.853204, 0.646056, 0.717840, 0.606500),
)
"""Errors of AlexNet in the order of Hendrycks and Dietterich, written down again."""
ORDER = (
    *("gaussian_noise", "shot_noise", "impulse_noise", "defocus_blur", "glass_blur", "motion_blur"),
    *("zoom_blur", "snow", "frost", "fog", "brightness", "contrast", "elastic_transform"),
    *("pixelate", "jpeg_compression"),
)


def names() -> list[str]:
    return [f"{one}/ILSVRC2012_val_{i}.JPEG" for one in CLASSES for i in range(2)]


def write(root: Path, wrong: int) -> None:
    """Two bright images of a class and two dark ones of the other, the first `wrong` swapped."""
    for number, name in enumerate(names()):
        bright = (number < 2) != (number < wrong)
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(png(BRIGHT if bright else DARK, 8, 8))


def wrong_of(number: int, level: int) -> int:
    return (number + level) % 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("imagenet")
    write(root / "val", 0)
    for number, name in enumerate(ORDER):
        for level in range(1, 6):
            write(root / "c" / name / str(level), wrong_of(number, level))
    return root


def by_brightness(images: Tensor) -> Tensor:
    over = images.mean(dim=(1, 2, 3)) - 0.5
    return over[:, None] * over.new_tensor([[100.0, -100.0]])


def subject(folder: Path) -> Subject:
    made = subject_of(by_brightness, open_data(folder / "val"))
    return replace(made, corrupted=open_corrupted(folder / "c"))


def test_the_mce_is_that_of_the_files_computed_by_hand(folder: Path) -> None:
    result = Corruptions().measure(subject(folder), lambda done, total: None)
    errors = [np.mean([wrong_of(n, level) / 4 for level in range(1, 6)]) for n in range(15)]
    expected = np.mean([error / alexnet for error, alexnet in zip(errors, ALEXNET, strict=True)])
    metrics = Corruptions().metrics(result, None)
    assert metrics["mce"].value == pytest.approx(expected, abs=1e-12)
    assert metrics["corruption_accuracy"].value == pytest.approx(1 - np.mean(errors))
    assert result.clean.value == 1
    assert result.accuracy["frost"] == tuple(1 - wrong_of(8, level) / 4 for level in range(1, 6))


def notes_of(result: CorruptionsResult) -> list[str]:
    exhibits = Corruptions().exhibits({"m": result}, None)
    return [one.text for one in exhibits if isinstance(one, Note)]


def test_the_page_says_that_the_published_files_were_read(folder: Path) -> None:
    result = Corruptions().measure(subject(folder), lambda done, total: None)
    assert result.conditions.published
    notes = notes_of(result)
    assert "read from the published files" in notes[0]
    assert not any("generated textures" in note for note in notes)
    assert "generated textures" not in Corruptions().metrics(result, None)["mce"].note
    in_memory = replace(result, conditions=replace(result.conditions, published=False))
    notes = notes_of(in_memory)
    assert "corrupted in memory" in notes[0]
    assert "generated textures" in notes[1]


def test_corruptions_may_be_in_the_folders_of_their_groups(folder: Path, tmp_path: Path) -> None:
    for group, members in GROUPS.items():
        (tmp_path / group).mkdir()
        for name in members:
            (tmp_path / group / name).symlink_to(folder / "c" / name)
    found = open_corrupted(tmp_path)
    assert found.folders.keys() == CORRUPTIONS.keys()
    assert found.folders["fog"] == tmp_path / "weather" / "fog"


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        open_corrupted(tmp_path / "nowhere")
    for name in ORDER:
        for level in range(1, 6):
            if name != "snow" and (name, level) != ("fog", 5):
                (tmp_path / name / str(level)).mkdir(parents=True)
    with pytest.raises(UsageError, match="lacks snow; severity 5 of fog; the mCE needs"):
        open_corrupted(tmp_path)


def test_images_without_a_corrupted_version_are_an_error(folder: Path, tmp_path: Path) -> None:
    for one in names():
        path = tmp_path / "other" / one.replace("val_", "test_")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(png(DARK, 8, 8))
    other = subject_of(by_brightness, open_data(tmp_path / "other"))
    given = replace(other, corrupted=open_corrupted(folder / "c"))
    with pytest.raises(NotApplicable, match="4 of 4 images of the data have no corrupted version"):
        Corruptions().measure(given, lambda done, total: None)


def test_a_changed_file_changes_the_fingerprint(tmp_path: Path) -> None:
    for name in ORDER:
        for level in range(1, 6):
            (tmp_path / name / str(level) / CLASSES[0]).mkdir(parents=True)
    before = open_corrupted(tmp_path).fingerprint()
    assert open_corrupted(tmp_path).fingerprint() == before
    (tmp_path / "fog" / "3" / CLASSES[0] / "new.JPEG").write_bytes(b"")
    assert open_corrupted(tmp_path).fingerprint() != before
