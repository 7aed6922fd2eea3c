"""`unshortcut audit` as a user meets it: the page, the JSON, the gate, and its exit statuses."""

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from tests.cli.test_cli import call

MODEL = """
import torch

class Reds:
    classes = ("dark", "<b>bright</b>")
    preprocessing = {"size": 16, "crop_share": 1.0, "mean": (0, 0, 0), "std": (1, 1, 1)}

    def features(self, images):
        return images.mean((2, 3))

    def logits(self, images):
        red = images[:, 0].mean((1, 2))
        return torch.stack([0.5 - red, red - 0.5], dim=1) * 20

def reds():
    return Reds()

def broken():
    made = Reds()
    made.logits = lambda images: torch.full((len(images), 2), float("nan"))
    return made
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a model and images of its two classes, one of them a hostile name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("UNSHORTCUT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "red_models.py").write_text(MODEL)
    random = np.random.default_rng(0)
    for name, low in (("dark", 0), ("<b>bright<", 128)):
        (tmp_path / "images" / name).mkdir(parents=True)
        for number in range(6):
            pixels = random.integers(low, low + 120, (20, 20, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(tmp_path / "images" / name / f"{number}.png")
    (tmp_path / "classes.json").write_text('{"<b>bright<": ["<b>bright</b>"]}')
    return tmp_path


AUDIT = (
    "audit", "red_models:reds", "--data", "images", "--mapping", "classes.json",
    "--only", "confidence",
)  # fmt: skip


def test_a_page_a_table_and_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--only", "neighbors", "--out", "page.html", "--json", "found.json")
    assert call(*AUDIT, *words) == 0
    said = capsys.readouterr().out
    assert "wrote page.html and found.json" in said
    page = Path("page.html").read_text()
    assert "&lt;b&gt;bright" in page
    assert "<b>bright" not in page
    found = json.loads(Path("found.json").read_text())
    assert found["command"] == "audit"
    model = found["metrics"]["models"]["red_models:reds"]
    assert model["metrics"]["accuracy"]["value"] == 1.0
    assert model["measurements"]["confidence"]["status"] == "done"
    assert str(folder) not in page + Path("found.json").read_text()


@pytest.mark.parametrize(
    ("requirement", "status", "said"),
    [
        ("accuracy>=0.9", 0, "met: accuracy>=0.9"),
        ("accuracy<0.9", 1, "not met: accuracy<0.9"),
        ("accuracy >= 90%", 0, "met"),
        ("acuracy>=0.9", 2, "did you mean 'accuracy'"),
        ("shape_bias>=0.9", 2, "unknown metric 'shape_bias'"),
        ("accuracy", 2, "is not a requirement"),
    ],
)
def test_a_gate(
    requirement: str, status: int, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(*AUDIT, "--require", requirement) == status
    output = capsys.readouterr()
    assert said in output.out + output.err


def test_a_metric_that_was_not_measured_is_not_met(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*AUDIT[:-1], "shape_bias", "--require", "shape_bias>=0.1"]
    assert call(*words) == 1
    assert "not met: shape_bias>=0.1 for red_models:reds" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["timm:resnet81", "--data", "images"], 2, "did you mean"),
        (["red_models:broken", "--data", "images"], 1, "not finite"),
        (["red_models:reds", "--data", "images", "--only", "confidense"], 2, "'confidence'"),
        (["red_models:reds", "--data", "nowhere/"], 2, "no such folder"),
        (["red_models:reds", "--data", "images", "--out", "."], 2, "is a folder"),
        (["red_models:reds", "--data", "images", "--classifier", "svm"], 2, "head, linear, knn"),
        (["red_models:reds", "--data", "images", "--mapping", "none.csv"], 2, "cannot be read"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    words: list[str], status: int, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("audit", *words) == status
    output = capsys.readouterr()
    assert said in (output.out + output.err).replace("\n", " ")
    assert "Traceback" not in output.err


def test_the_command_on_the_page_has_what_was_given_and_no_folder_of_its_owner(
    folder: Path,
) -> None:
    words = [*AUDIT[:3], str(folder / "images"), *AUDIT[4:], "--seed", "3"]
    assert call(*words) == 0
    page = Path("report.html").read_text()
    assert "unshortcut audit red_models:reds --data images --mapping classes.json --seed 3" in page


def test_changes_since_a_previous_audit_are_printed_on_the_page_and_a_gate(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(*AUDIT, "--json", "before.json") == 0
    assert "What has changed" not in Path("report.html").read_text()
    capsys.readouterr()
    since = ("--previous", "before.json", "--json", "now.json", "--junit", "audit.xml")
    assert call(*AUDIT, *since, "--require", "accuracy>=previous-0.02") == 0
    said = capsys.readouterr().out
    assert "What has changed since before.json" in said
    assert "wrote report.html and now.json and audit.xml" in said
    assert "it was 1 (" in said and "at least 0.98 is required" in said.replace("\n", " ")
    page = Path("report.html").read_text()
    assert "What has changed" in page and "before.json" in page
    changes = json.loads(Path("now.json").read_text())["metrics"]["changes"]
    assert changes["models"]["red_models:reds"]["metrics"]["accuracy"]["difference"] == 0
    (case,) = ElementTree.parse("audit.xml").getroot()[0]
    assert case.get("name") == "accuracy>=previous-0.02"
    assert call(*AUDIT, *since, "--require", "accuracy>previous") == 1
    capsys.readouterr()
    assert call(*AUDIT, *since, "--seed", "1", "--require", "accuracy>=previous") == 2
    assert "used the seed 0, and this one 1" in capsys.readouterr().err.replace("\n", " ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--previous", "classes.json"], "is not the result of an audit"),
        (["--previous", "none.json"], "cannot be read"),
        (["--require", "accuracy>=previous"], "name its JSON file with --previous"),
        (["--profile", "fast"], "profile must be one of quick, standard, full, not 'fast'"),
        (["--full"], "unknown '--full'; it is called '--profile full' now"),
        (["--junit", "."], "--junit needs an XML file"),
    ],
)
def test_a_wrong_profile_or_previous_audit_is_one_sentence(
    words: list[str], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(*AUDIT, *words) == 2
    output = capsys.readouterr()
    assert said in " ".join((output.out + output.err).split())
