"""An audit as a whole: what is kept, what fails, what does not apply, and that the rest goes on."""

import io
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from rich.console import Console
from torch import Tensor, nn

from unshortcut.auditing.findings import Findings
from unshortcut.auditing.requirements import Requirement, check_requirements
from unshortcut.auditor import audit
from unshortcut.data.shapes import SHAPE_NAMES, Shapes
from unshortcut.errors import RunError, UsageError
from unshortcut.measurements.measurement import measurements
from unshortcut.models.load import LoadedModel, from_object

QUIET = Console(quiet=True)


class Reds(nn.Module):
    """Decides by how red an image is: one band of values per class."""

    def __init__(self, classes: Sequence[str], bands: float = 1.0) -> None:
        super().__init__()
        self.classes, self.bands = tuple(classes), bands
        self.preprocessing = {"size": 16, "crop_share": 1.0, "mean": (0,) * 3, "std": (1,) * 3}
        self.passed = 0

    def forward(self, images: Tensor) -> Tensor:
        self.passed += len(images)
        red = images[:, 0].mean((1, 2))[:, None] * len(self.classes) * self.bands
        centers = Tensor([index + 0.5 for index in range(len(self.classes))])
        return -((red - centers) ** 2) * 4


def reds(classes: Sequence[str] = ("dark", "bright"), bands: float = 1.0) -> LoadedModel:
    return from_object(Reds(classes, bands), "reds")


def uncached(classes: Sequence[str]) -> LoadedModel:
    """A model whose results are not cached."""
    return replace(reds(classes), fingerprint=None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Dark and bright images, no splits."""
    root = tmp_path_factory.mktemp("audit") / "images"
    random = np.random.default_rng(0)
    for name, low in (("dark", 0), ("bright", 128)):
        (root / name).mkdir(parents=True)
        for number in range(12):
            pixels = random.integers(low, low + 120, (20, 20, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(root / name / f"{number}.png")
    return root


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSHORTCUT_CACHE", str(tmp_path / "cache"))


def run(models, data, **options) -> Findings:  # type: ignore[no-untyped-def]
    return audit(models, data, console=QUIET, **options).findings


def test_a_head_that_can_name_the_classes_decides_on_all_images(folder: Path) -> None:
    found = run({"mine": reds()}, folder, only=["confidence"])
    assert found.models["mine"].classifier == "its own head of 2 classes"
    assert found.num_images == 24
    assert found.metrics("mine")["accuracy"].value == 1.0


def test_without_a_head_for_the_classes_a_linear_probe_decides_on_the_other_half(
    folder: Path,
) -> None:
    found = run({"mine": reds(("x", "y", "z"))}, folder, only=["confidence"])
    classifier = found.models["mine"].classifier
    assert "linear probe" in classifier
    assert "12 labeled images of one half of images" in classifier
    assert found.num_images == 12


def test_all_models_are_measured_on_the_same_images(folder: Path) -> None:
    found = run({"head": reds(), "none": reds(("x", "y"))}, folder, only=["confidence"])
    assert found.num_images == 12
    assert {entry.status for entry in found.entries["confidence"].values()} == {"done"}


def test_a_second_model_costs_only_itself_and_other_settings_are_other_results(
    folder: Path,
) -> None:
    first = reds()
    run({"a": first}, folder, only=["confidence"])
    assert isinstance(first.module, Reds)
    passed = first.module.passed
    found = run({"a": first, "b": reds(bands=0.5)}, folder, only=["confidence"])
    entries = found.entries["confidence"]
    assert (entries["a"].cached, entries["b"].cached) == (True, False)
    assert first.module.passed - passed < 10, "no image of the data went through it again"
    other = run({"a": first}, folder, only=["confidence"], seed=1)
    assert not other.entries["confidence"]["a"].cached


def test_what_is_not_given_does_not_apply_and_what_cannot_be_used_has_failed(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    found = run(
        {"mine": reds()},
        folder,
        only=["shape_bias", "coarse", "confidence"],
        conflict=tmp_path / "empty",
    )
    entries = {name: by_model["mine"] for name, by_model in found.entries.items()}
    assert entries["shape_bias"].status == "failed"
    assert "empty" in entries["shape_bias"].reason
    assert entries["coarse"].status == "not applicable"
    assert "--hierarchy" in entries["coarse"].reason
    assert entries["confidence"].status == "done"


def test_a_wrong_spec_is_told_and_the_other_models_go_on(folder: Path) -> None:
    found = run({"mine": reds(), "typo": "timm:resnet81"}, folder, only=["confidence"])
    assert "did you mean" in found.models["typo"].error
    assert found.entries["confidence"]["typo"].status == "failed"
    assert found.entries["confidence"]["mine"].status == "done"
    assert "could not be audited" in found.verdict("typo").text


def test_where_no_model_can_be_audited_the_first_reason_is_the_error(folder: Path) -> None:
    with pytest.raises(UsageError, match="did you mean"):
        run(["timm:resnet81"], folder)

    class Broken(Reds):
        def forward(self, images: Tensor) -> Tensor:
            return super().forward(images) * float("nan")

    broken = from_object(Broken(("dark", "bright")), "broken")
    with pytest.raises(RunError, match="'broken' are not finite"):
        run({"broken": broken}, folder)


def test_a_measurement_that_raises_is_told_by_its_kind_and_the_rest_goes_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fall(self, subject, on_progress):  # type: ignore[no-untyped-def]
        raise ZeroDivisionError("by nothing")

    broken = type(measurements(["frequency"])["frequency"])
    monkeypatch.setattr(broken, "measure", fall)
    found = run({"mine": reds()}, folder, only=["frequency", "confidence"])
    assert found.entries["frequency"]["mine"].reason == "ZeroDivisionError: by nothing"
    assert found.entries["confidence"]["mine"].status == "done"


def test_classes_that_differ_are_matched_by_a_mapping_file(folder: Path, tmp_path: Path) -> None:
    mapping = tmp_path / "classes.csv"
    mapping.write_text("dark,black\ndark,gray\nbright,white\n")
    model = reds(("black", "gray", "white"))
    found = run({"mine": model}, folder, only=["confidence"], mapping=mapping)
    assert found.models["mine"].classifier == "its own head of 3 classes"
    assert found.metrics("mine")["accuracy"].value > 0.9
    assert found.inputs["mapping"] == "classes.csv"


def test_shapes_without_labels_are_still_looked_at(tmp_path: Path) -> None:
    for number in range(8):
        Image.fromarray(Shapes("test", size=32).image(number).array).save(
            tmp_path / f"{number}.png"
        )
    found = run({"mine": reds(SHAPE_NAMES)}, tmp_path, only=["neighbors", "confidence"])
    assert found.entries["neighbors"]["mine"].status == "done"
    entry = found.entries["confidence"]["mine"]
    assert entry.status == "not applicable"
    assert "no labels" in entry.reason


def test_the_name_of_a_measurement_is_checked_first() -> None:
    with pytest.raises(UsageError, match="did you mean 'shape_bias'"):
        run(["timm:resnet18@random"], "nowhere", only=["shape_bais"])


def test_what_a_classifier_was_fitted_on_is_never_measured_on(folder: Path) -> None:
    with pytest.raises(UsageError, match="both to fit a classifier and to measure"):
        run({"mine": reds(("x", "y"))}, folder, train=folder, only=["confidence"])


def test_any_error_of_a_strangers_model_is_told_and_the_rest_goes_on(folder: Path) -> None:
    class Falls(Reds):
        def forward(self, images: Tensor) -> Tensor:
            raise ValueError("not today, in /home/somebody/models/falls.py")

    falls = from_object(Falls(("dark", "bright")), "falls")
    found = run({"falls": falls, "mine": reds()}, folder, only=["confidence"])
    assert found.models["falls"].error == "ValueError: not today, in falls.py"
    assert found.verdict("falls").text.startswith("could not be audited")
    assert found.entries["confidence"]["mine"].status == "done"


def test_a_baseline_joins_under_a_name_of_its_own_and_is_not_judged(folder: Path) -> None:
    found = run({"mine": reds()}, folder, only=["confidence"], baseline=reds(bands=0.5))
    assert (found.baseline, found.baseline_added) == ("reds", True)
    same = reds()
    found = run({"reds": same}, folder, only=["confidence"], baseline=reds(bands=0.5))
    assert (found.baseline, list(found.models)) == ("reds (baseline)", ["reds", "reds (baseline)"])
    checked = check_requirements([Requirement.parse("accuracy>=0.9")], found)
    assert [one.model for one in checked] == ["reds"]
    found = run({"reds": same}, folder, only=["confidence"], baseline=same)
    assert (found.baseline, found.baseline_added) == ("reds", False)


def test_other_classes_of_the_same_network_are_other_results(folder: Path) -> None:
    straight = run({"mine": reds(("dark", "bright"))}, folder, only=["confidence"])
    turned = run({"mine": reds(("bright", "dark"))}, folder, only=["confidence"])
    assert straight.metrics("mine")["accuracy"].value == 1.0
    assert turned.metrics("mine")["accuracy"].value == 0.0


def test_unreadable_images_are_told_on_the_page_too(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "torn")
    (tmp_path / "torn" / "dark" / "0.png").write_bytes(b"no image")
    found = run({"mine": reds()}, tmp_path / "torn", only=["confidence"])
    (warning,) = found.warnings
    assert "1 of 24 images cannot be read" in warning


def test_a_shift_that_cannot_be_opened_is_among_the_warnings(folder: Path) -> None:
    found = run({"mine": reds()}, folder, only=["confidence"], shifts={"sketch": "no/such"})
    (warning,) = found.warnings
    assert warning.startswith("the shift 'sketch' is left out")


def test_where_the_cache_cannot_be_written_the_audit_goes_on(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("UNSHORTCUT_CACHE", str(tmp_path / "file"))
    found = run({"mine": reds(("x", "y"))}, folder, only=["confidence"])
    assert found.entries["confidence"]["mine"].status == "done"
    assert any("not cached" in warning for warning in found.warnings)


def test_where_nothing_could_be_measured_no_verdict_is_given(folder: Path) -> None:
    found = run({"mine": reds()}, folder, only=["coarse"])
    assert found.verdict("mine").text == "could not be measured."


def test_models_data_and_measurements_are_said_first(folder: Path) -> None:
    console = Console(file=io.StringIO(), width=200)
    audit({"mine": reds()}, folder, only=["coarse", "confidence"], console=console)
    assert isinstance(console.file, io.StringIO)
    first, second, *_ = console.file.getvalue().splitlines()
    assert first == "Auditing mine on images: coarse, confidence"
    assert second == "mine: classified by its own head of 2 classes"


def test_the_number_of_workers_changes_no_result(folder: Path) -> None:
    unknown = ("x", "y")
    one, three = (
        run({"mine": uncached(unknown)}, folder, only=["confidence"], workers=workers)
        for workers in (1, 3)
    )
    assert not three.entries["confidence"]["mine"].cached
    assert one.entries["confidence"]["mine"].result == three.entries["confidence"]["mine"].result
    with pytest.raises(UsageError, match="workers must be at least 1"):
        run({"mine": reds()}, folder, workers=0)


def test_a_model_in_memory_takes_its_preprocessing_and_classes_from_the_arguments(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "classes.txt").write_text("dark\nbright\n")
    plain = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(3, 2))
    with torch.no_grad():
        plain[2].weight.copy_(Tensor([[-1.0] * 3, [1.0] * 3]))
        plain[2].bias.copy_(Tensor([1.5, -1.5]))
    stated = {"size": 16, "mean": (0.0, 0.0, 0.0), "std": (1.0, 1.0, 1.0)}
    for classes in (("dark", "bright"), tmp_path / "classes.txt"):
        found = run(plain, folder, only=["confidence"], classes=classes, **stated)
        assert found.models["Sequential"].size == 16
        assert found.models["Sequential"].classifier == "its own head of 2 classes"
        assert found.metrics("Sequential")["accuracy"].value == 1.0
