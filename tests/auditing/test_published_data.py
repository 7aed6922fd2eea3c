"""An audit of a model with ImageNet's 1000 classes on published data sets, without a mapping."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from rich.console import Console
from torch import Tensor, nn

from unshortcut.auditing.findings import Findings
from unshortcut.auditor import audit
from unshortcut.data.class_lists import imagenet_1k
from unshortcut.imaging.corruptions import CORRUPTIONS

INDEX = {one: number for number, one in enumerate(imagenet_1k())}
BENCH, BOW_TIE, WINDSOR_TIE = "n03891251", "n02883205", "n04591157"
BEAGLE, BOXER = "n02088364", "n02108089"
DATA = (BENCH, BOW_TIE, WINDSOR_TIE, BEAGLE, BOXER)


class ReadsIndex(nn.Module):
    """An image of one color says which two outputs are largest, by the index of a class."""

    preprocessing = {"size": 8, "crop_share": 1.0, "mean": (0,) * 3, "std": (1,) * 3}  # noqa: RUF012
    classes = imagenet_1k()

    def forward(self, images: Tensor) -> Tensor:
        levels = (images[:, :, 4, 4] * 255).round().long()
        first = levels[:, 0] * 4 + levels[:, 1] // 64
        second = (first + levels[:, 2]) % 1000
        logits = torch.zeros(len(images), 1000)
        logits.scatter_(1, second[:, None], 5.0)
        return logits.scatter(1, first[:, None], 10.0)


def write(path: Path, decision: str, then: str | None = None, side: int = 8) -> None:
    """An image for which the model decides for a class, and then for another one."""
    index = INDEX[decision]
    step = (INDEX[then] - index) % 1000 if then else 1
    assert step < 256
    path.parent.mkdir(parents=True, exist_ok=True)
    color = np.array([index // 4, index % 4 * 64, step], np.uint8)
    Image.fromarray(np.tile(color, (side, side, 1))).save(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("published")
    for one in DATA:
        write(root / "val" / one / "ILSVRC2012_val_1.png", one)
        write(root / "val" / one / "ILSVRC2012_val_2.png", one)
    write(root / "val" / BEAGLE / "ILSVRC2012_val_2.png", BOXER)  # a dog for another dog
    # An airliner (index 404) is no class of ImageNet-R here, so the mask leaves the bow tie (457).
    write(root / "imagenet-r" / BOW_TIE / "art_0.png", imagenet_1k()[404], BOW_TIE)
    write(root / "imagenet-r" / BEAGLE / "art_0.png", BOW_TIE)
    write(root / "objectnet" / "bench" / "1.png", BENCH, side=12)
    write(root / "objectnet" / "tie" / "1.png", WINDSOR_TIE, side=12)
    write(root / "objectnet" / "tie" / "2.png", BENCH, side=12)
    write(root / "objectnet" / "air_freshener" / "1.png", BENCH, side=12)
    for name in CORRUPTIONS:
        for level in range(1, 6):
            for one in DATA:
                for number in (1, 2):
                    path = root / "c" / name / str(level) / one / f"ILSVRC2012_val_{number}.png"
                    write(path, BENCH if name == "fog" else one)
    return root


@pytest.fixture(scope="module")
def found(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Findings:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNSHORTCUT_CACHE", str(tmp_path_factory.mktemp("cache")))
        shifts = [folder / "imagenet-r", f"objectnet:{folder / 'objectnet'}"]
        return audit(
            {"model": ReadsIndex()},
            folder / "val",
            classes=imagenet_1k(),
            shifts=shifts,
            corrupted=folder / "c",
            hierarchy="wordnet:dog",
            only=["confidence", "domain_shift", "corruptions", "coarse"],
            console=Console(quiet=True),
        ).findings


def test_nothing_is_left_out(found: Findings) -> None:
    assert {name: one["model"].reason for name, one in found.entries.items()} == {
        "confidence": "",
        "domain_shift": "",
        "corruptions": "",
        "coarse": "",
    }
    assert found.metrics("model")["accuracy"].value == pytest.approx(0.9)


def test_the_logits_of_imagenet_r_are_masked_to_its_classes(found: Findings) -> None:
    assert found.metrics("model")["shift_accuracy_imagenet_r"].value == 0.5


def test_a_class_of_objectnet_that_is_two_of_imagenet_is_right_for_either(found: Findings) -> None:
    metrics = found.metrics("model")
    assert metrics["shift_accuracy_objectnet"].value == pytest.approx(2 / 3)
    shift = found.entries["domain_shift"]["model"].result.shifts[1]
    tie = f"tie ({BOW_TIE} {WINDSOR_TIE})"
    assert [(one.name, one.inside.num_images) for one in shift.classes] == [(BENCH, 2), (tie, 4)]
    assert shift.inside.accuracy.value == 1
    assert set(shift.absent) == {BEAGLE, BOXER}


def test_corruptions_are_read_from_disk(found: Findings) -> None:
    result = found.entries["corruptions"]["model"].result
    assert result.conditions.published
    assert result.mean_accuracy("fog") == pytest.approx(0.2)  # only the benches
    assert result.mean_accuracy("snow") == 1


def test_dogs_are_a_coarse_class(found: Findings) -> None:
    metrics = found.metrics("model")
    assert metrics["fine_accuracy"].value == pytest.approx(3 / 4)
    assert metrics["coarse_accuracy"].value == 1


def test_a_broken_folder_of_corruptions_fails_that_measurement_alone(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNSHORTCUT_CACHE", str(tmp_path / "cache"))
    found = audit(
        {"model": ReadsIndex()},
        folder / "val",
        classes=imagenet_1k(),
        corrupted=folder / "val",
        only=["confidence", "corruptions"],
        console=Console(quiet=True),
    ).findings
    assert found.entries["confidence"]["model"].status == "done"
    assert found.entries["corruptions"]["model"].status == "failed"
    assert "lacks gaussian_noise" in found.entries["corruptions"]["model"].reason
