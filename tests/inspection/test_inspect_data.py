"""An inspection from end to end: folders, tar files, shards and drawn images; page, lists, gate."""

import csv
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor

from tests.inspection import planted
from tests.inspection.models import Coarse
from tests.inspection.planted import write_images
from tests.report.parsed import parsed
from unshortcut import inspect_data, open_data
from unshortcut.cli.main import main
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.inspection import InspectionReport
from unshortcut.inspection.requirements import check_requirements, parse_requirements
from unshortcut.properties.reading import inspect_source


def quality_and_color(
    image: Image.Image, label: int, random: np.random.Generator
) -> tuple[Image.Image, dict[str, Any]]:
    """Qualities as planted, and colors that let any model tell the classes."""
    color = np.eye(3)[label] * 200
    tinted = (0.5 * np.asarray(image) + 0.5 * color).clip(0, 255).astype(np.uint8)
    return planted.quality_by_class(Image.fromarray(tinted), label, random)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Qualities that tell the class, a copy across splits, an unreadable file, a wrong label."""
    root = write_images(
        tmp_path_factory.mktemp("data"),
        quality_and_color,
        splits=("train", "val"),
        count=72,
    )
    source = sorted((root / "train" / "class1").iterdir())[0]
    Image.open(source).resize((40, 40)).save(root / "val" / "class1" / "copy.jpg", quality=85)
    (root / "train" / "class0" / "broken.jpg").write_bytes(b"\xff\xd8\xff nothing")
    wrong = sorted((root / "train" / "class1").iterdir())[3]
    wrong.rename(root / "train" / "class2" / "wrong.jpg")
    for split in ("train", "val"):
        (root / split / "class2").rename(root / split / "class2 <i>")
    return root


@pytest.fixture(scope="module")
def report(folder: Path) -> InspectionReport:
    return inspect_data(folder, Coarse(), max_images=20)


def test_everything_planted_is_in_the_figures(report: InspectionReport) -> None:
    metrics = report.findings.metrics()
    assert metrics["alarms"] == 1 and metrics["file_strength"] > 0.3
    assert metrics["leaked_images"] == metrics["copies"] == 1
    assert metrics["label_errors"] == 1
    assert {"accuracy", "accuracy_without_leaks", "properties_used"} <= set(metrics)
    assert any("broken.jpg" in warning for warning in report.findings.warnings)


def test_the_page_shows_it_and_escapes_names(report: InspectionReport) -> None:
    page = report.html()
    text = visible(page)
    for part in ("JPEG quality", "copy in train", "Does the model use it?", "Label errors"):
        assert part in text
    assert "class2 <i>" in text and "class2 <i>" not in page
    assert "default-src &#39;none&#39;" in page
    assert report.html() == page, "the same findings give the same page"
    assert "<iframe" in report._repr_html_()


def test_values_are_plain_json(report: InspectionReport) -> None:
    values = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert values["properties"]["found"]["jpeg_quality"]["alarm"]
    assert values["splits"] == {"train": 72, "val": 73}
    (pair,) = values["copies"]["pairs"]
    assert pair["second"] == "val/class1/copy.jpg" and pair["correlation"] > 0.9
    assert values["unreadable"]["train"][0]["identity"] == "train/class0/broken.jpg"


def test_lists_name_the_images(report: InspectionReport, tmp_path: Path) -> None:
    copies, errors = report.write_lists(tmp_path / "lists")
    (pair,) = csv.DictReader(copies.open())
    assert (pair["first_split"], pair["second_split"]) == ("train", "val")
    suspects = [row["image"] for row in csv.DictReader(errors.open())]
    assert suspects == ["train/class2 <i>/wrong.jpg"]


def visible(page: str) -> str:
    (body,) = (one for one in parsed(page) if one.tag == "body")
    return " ".join(body.text.split())


def call(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_a_requirement_that_is_not_met_is_an_exit_status(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, figures = tmp_path / "page.html", tmp_path / "figures.json"
    words = ["inspect", f"{folder}@train", "--out", str(out), "--json", str(figures)]
    assert call(*words, "--require", "alarms<=0", "--require", "label_errors<=3") == 1
    text = " ".join(capsys.readouterr().out.split())
    assert "not met: alarms<=0: alarms is 1" in text
    assert "label_errors is not known: it needs --model" in text
    assert out.exists() and json.loads(figures.read_text())["metrics"]["metrics"]["alarms"] == 1
    assert str(folder) not in out.read_text(), "no private folder is shown"


def test_requirements_are_checked_against_the_figures(report: InspectionReport) -> None:
    texts = ["alarms<=1", "leaked_images<1", "label_errors<=1"]
    checked = check_requirements(parse_requirements(texts), report.findings)
    assert [one.met for one in checked] == [True, False, True]
    with pytest.raises(UsageError, match="refers to a previous audit"):
        parse_requirements(["alarms<=previous"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "there is no folder 'nowhere'"),
        (["shapes", "--require", "alarm<=0"], "did you mean 'alarms'"),
        (["shapes", "--classifier", "tree"], "must be one of head, linear, knn, not 'tree'"),
        (["shapes", "--classifier", "knn"], "classifier says something of a model, and none is"),
        (["shapes", "--out", "."], "is a folder, and --out needs an HTML file"),
    ],
)
def test_a_wrong_request_is_one_sentence(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("inspect", *words) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_tar_files_and_shards_give_the_same_facts_as_the_folder(
    folder: Path, tmp_path: Path
) -> None:
    with tarfile.open(tmp_path / "data.tar", "w") as archive:
        archive.add(folder, "data")
    with tarfile.open(tmp_path / "x-0.tar", "w") as archive:
        for path in sorted((folder / "val").rglob("*.jpg")):
            key = f"{path.parent.name}-{path.stem}"
            archive.add(path, f"{key}.jpg")
            label = tarfile.TarInfo(f"{key}.cls")
            label.size = 1
            archive.addfile(label, io.BytesIO(path.parent.name[5].encode()))
    found = [
        inspect_source(open_data(spec))
        for spec in (f"{folder}@val", f"{tmp_path}/data.tar@val", f"{tmp_path}/x-{{0..0}}.tar")
    ]
    for one in found[1:]:
        assert one.has_files and np.array_equal(one.labels, found[0].labels)
        for name, column in found[0].columns.items():
            assert np.array_equal(one.columns[name].values, column.values), name


def test_drawn_images_have_no_files_and_the_page_says_so() -> None:
    report = inspect_data(Shapes("test", size=24, count=96))
    assert "These images are not files" in visible(report.html())
    assert report.findings.metrics()["alarms"] == 0


def test_data_without_labels_are_searched_for_copies_all_the_same(tmp_path: Path) -> None:
    pictures = Shapes("test", size=40, count=24)
    for index in range(24):
        Image.fromarray(pictures.image(index).pixels()).save(tmp_path / f"{index}.png")
    Image.fromarray(pictures.image(3).pixels()).save(tmp_path / "again.jpg", quality=80)
    report = inspect_data(tmp_path)
    assert report.findings.metrics() == {"copies": 1, "conflicting_copies": 0}
    assert "no single labels" in str(report)


def test_other_data_are_compared_with_against(folder: Path) -> None:
    report = inspect_data(f"{folder}@train", against=f"{folder}@val")
    assert report.findings.metrics()["leaked_images"] == 1


@pytest.mark.parametrize("wrong", [{"max_images": 1}, {"seed": -1}])
def test_a_wrong_argument_is_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        inspect_data("shapes", **wrong)


class Blind:
    """Sees nothing of the class: the sum of the pixels, folded many times."""

    preprocessing = {"size": 48, "crop_share": 1.0}  # noqa: RUF012

    def features(self, images: Tensor) -> Tensor:
        return torch.sin(images.double().sum((2, 3)) * 1e4).float()


def test_a_model_that_hardly_knows_the_classes_lists_no_label_errors(
    folder: Path, tmp_path: Path
) -> None:
    report = inspect_data(folder, Blind(), max_images=20)
    assert "label_errors" not in report.findings.metrics()
    text = visible(report.html())
    assert "Label errors are not listed: a linear probe on the features agrees with only" in text
    assert [path.name for path in report.write_lists(tmp_path)] == ["copies.csv"]
    (checked,) = check_requirements(parse_requirements(["label_errors<=9"]), report.findings)
    assert not checked.met and "agrees with only" in checked.explanation


def test_an_encoder_of_the_package_serves_where_there_is_no_model(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, figures = tmp_path / "page.html", tmp_path / "figures.json"
    words = ["--out", str(out), "--json", str(figures), "--max-images", "20"]
    assert call("inspect", str(folder), "--model", "embedded", *words) == 0
    assert "trained on drawn shapes" in " ".join(capsys.readouterr().out.split())
    found = json.loads(figures.read_text())["metrics"]
    assert found["model"]["name"] == "embedded:moco-v2-shapes"
    assert "linear" in found["model"]["classifier"]
    assert {"accuracy", "label_errors"} <= set(found["metrics"]), "colors tell these classes"
    assert "only an inspection with that model can tell" in visible(out.read_text())
