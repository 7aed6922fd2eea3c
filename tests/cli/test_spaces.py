"""`unshortcut spaces` and `neighbors` as a user meets them, on small LooC runs."""

import csv
import json
from pathlib import Path
from shutil import copytree, ignore_patterns

import numpy as np
import pytest
from PIL import Image as PillowImage

from tests.cli.test_cli import call
from tests.methods.small_runs import small_run
from unshortcut.data.shapes import Shapes
from unshortcut.measuring.nearest import neighbors
from unshortcut.models.load import load_model
from unshortcut.spaces.loading import load_spaces, save_spaces
from unshortcut.spaces.subsets import probe_spaces, select_spaces
from unshortcut.training.folder import RunFolder

SETS = ("schedule.epochs=1", "method.hidden=12", "method.dim=8")
SPACES = ("invariant", "color", "rotation")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A LooC run, one of MoCo, an export of spaces, and little data."""
    root = tmp_path_factory.mktemp("spaces")
    small_run("looc-color-rotation-shapes", root / "looc", SETS)
    small_run("moco-v2-shapes", root / "moco", SETS)
    save_spaces(root / "looc", ["color", "rotation"], root / "two.safetensors")
    for split, count in (("train", 48), ("test", 24)):
        source = Shapes(split, size=24, count=count)
        for index in range(count):
            _, name, number = source.identity(index).split("/")
            path = root / "data" / split / name / f"{number}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            PillowImage.fromarray(source.image(index).pixels()).save(path)
    for name in ("spear", "sword"):
        copytree(root / "data" / "test" / "arrow", root / "other" / name)
    return root


def test_spaces_prints_every_subset_and_the_reliance(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    words = ["looc", "--data", "data", "--seeds", "1", "--out", "out/here", "--json", "r.json"]
    assert call("spaces", *words) == 0
    printed = " ".join(capsys.readouterr().out.split())
    result = json.loads(Path("out/here/result.json").read_text())
    assert result == json.loads(Path("r.json").read_text())
    assert result["command"] == "spaces" and str(folder) not in json.dumps(result)
    expected = probe_spaces(load_spaces("looc"), "data", seeds=1)
    assert len(expected) == 7
    for subset, one in expected.items():
        assert result["metrics"]["subsets"]["+".join(subset)] == one.to_dict()
        assert f"{' + '.join(subset)} │ {one.scores['test'].mean:.2f} %" in printed
    test = result["metrics"]["reliance"]["tests"]["test"]
    assert tuple(test["shares"]) == SPACES and sum(test["shares"].values()) == pytest.approx(1)
    assert 0 <= test["mean_image_entropy_bits"] <= test["entropy_bits"] <= np.log2(3) + 1e-9
    assert f"{test['entropy_bits']:.2f} bits" in printed and "at most 1.58 bits" in printed
    lines = list(csv.reader(Path("out/here/reliance.csv").read_text().splitlines()))
    assert len(lines) == test["correct"] + 1 and tuple(lines[0][3:6]) == SPACES
    assert Path("out/here/reliance.png").stat().st_size > 10_000


def test_spaces_of_an_export_with_any_probe_on_data_that_are_asked_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    words = ["two.safetensors", "--data", "data@test", "--on", "data@train", "--kind", "knn"]
    assert call("spaces", *words, "--subsets", "rotation,color+rotation", "--set", "k=[1]") == 0
    assert "knn probe of two" in capsys.readouterr().out
    metrics = json.loads(Path("spaces/result.json").read_text())["metrics"]
    assert list(metrics["subsets"]) == ["rotation", "color+rotation"]
    assert metrics["subsets"]["rotation"]["chosen"] == {"k": 1}
    assert list(metrics["reliance"]["tests"]) == ["train"]


@pytest.mark.parametrize(
    ("data", "on", "reason"),
    [
        ("data/train/arrow", "data@test", "'data/train/arrow' has no labels"),
        ("data", "data/test/arrow", "'arrow' has no labels"),
        ("data", "other", "'other' has other classes than the training data"),
    ],
)
def test_without_labels_in_common_there_is_no_reliance(
    data: str, on: str, reason: str,
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(folder)
    words = ["looc", "--data", data, "--on", on, "--seeds", "1", "--subsets", "rotation"]
    assert call("spaces", *words, "--kind", "rotation", "--out", str(tmp_path)) == 0
    assert f"No classifier is analyzed: {reason}" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


def test_neighbors_draws_models_side_by_side(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    words = ["looc", str(folder / "moco"), "two.safetensors", "--data", "data", "--queries", "5"]
    more = ["--neighbors", "3", "--spaces", "color", "--out", "new/sheet.png", "--json", "n.json"]
    assert call("neighbors", *words, *more) == 0
    printed = capsys.readouterr().out
    text = Path("n.json").read_text()
    metrics = json.loads(text)["metrics"]
    names = ["looc (color)", "moco", "two.safetensors (color)"]
    assert list(metrics["models"]) == names and str(folder) not in text
    assert metrics["models"][names[0]]["neighbors"] == metrics["models"][names[2]]["neighbors"]
    expected = neighbors(
        {"a": load_spaces("looc", ["color"])}, "data", queries=5, neighbors=3
    ).to_dict()
    assert metrics["queries"] == expected["queries"]
    assert metrics["models"][names[0]] == expected["models"]["a"]
    assert all(f"│ {name} " in printed for name in names)
    with PillowImage.open("new/sheet.png") as picture:
        assert picture.width > 10 * 96 and picture.height > 5 * 96


def test_neighbors_honors_a_stated_size_for_an_export_also_where_spaces_are_chosen(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    chosen = select_spaces(load_model("two.safetensors", size=16), ["color"])
    expected = neighbors({"a": chosen}, "data", queries=2, neighbors=3).to_dict()
    words = ["two.safetensors", "--data", "data", "--queries", "2", "--neighbors", "3"]
    assert call("neighbors", *words, "--spaces", "color", "--size", "16", "--json", "s.json") == 0
    metrics = json.loads(Path("s.json").read_text())["metrics"]
    found = metrics["models"]["two.safetensors (color)"]
    assert found == expected["models"]["a"]
    usual = neighbors(["two.safetensors"], "data", queries=2, neighbors=3, spaces=["color"])
    assert found != usual.to_dict()["models"]["two.safetensors (color)"]


def test_neighbors_of_spaces_of_a_run_whose_checkpoint_is_gone_says_so(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(folder)
    checkpoint = RunFolder(Path("looc")).checkpoint.name
    copytree("looc", tmp_path / "bare", ignore=ignore_patterns(checkpoint))
    words = ["looc", str(tmp_path / "bare"), "--data", "data", "--spaces", "color"]
    assert call("neighbors", *words) == 2
    assert "has no checkpoint" in capsys.readouterr().err


def test_neighbors_of_images_that_are_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    image = next(Path("data/train/arrow").iterdir())
    words = ["moco", "--data", "data", "--query-names", f"arrow/{image.name}", "--json", "one.json"]
    assert call("neighbors", *words, "--against", "data@test") == 0
    assert "wrote neighbors.png" in capsys.readouterr().out
    result = json.loads(Path("one.json").read_text())
    assert result["model"] == "moco" and len(result["metrics"]["queries"]) == 1
    found = result["metrics"]["models"]["moco"]["neighbors"][0]
    tests = {path.name for path in Path("data/test").rglob("*.png")}
    assert {Path(one["image"]).name for one in found} <= tests


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["spaces", "moco"], "has no spaces"),
        (["spaces", "timm:resnet18@random"], "'timm:resnet18' has no spaces"),
        (["spaces", "looc", "--subsets", "colour"], "did you mean 'color'"),
        (["spaces", "looc", "--out", "two.safetensors"], "is a file"),
        (["neighbors", "moco", "--out", "sheet.txt"], "needs an image file"),
        (["neighbors", "moco", "--spaces", "color"], "none of the models has spaces"),
        (["neighbors", "looc", "moco", "--spaces", "colour"], "did you mean 'color'"),
        (["neighbors", "moco", "--query-names", "nowhere.jpg"], "there is no image 'nowhere.jpg'"),
        (["neighbors", "moco", "--neighbors", "48"], "from 1 to 47, not 48"),
    ],
)
def test_a_usage_error_is_one_sentence(
    words: list[str], message: str, folder: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(folder)
    assert call(*words, "--data", "data") == 2
    said = capsys.readouterr().err
    assert said.splitlines()[-1].startswith("error: ") and message in said
