"""`unshortcut similarity` as a user meets it: a table of means, a picture, a result."""

import json
from pathlib import Path

import pytest
import torch
import yaml
from torch import nn

from tests.cli.test_cli import call
from tests.models.published import layouts
from tests.small import TINY_RECIPE
from unshortcut.data.shapes import Shapes
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.measuring.pairs import KINDS
from unshortcut.measuring.similarities import similarity
from unshortcut.models.wrapping import from_module
from unshortcut.training.pretraining import pretrain
from unshortcut.training.projection import load_projection


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two runs, of different seeds."""
    folder = tmp_path_factory.mktemp("similarity")
    source = Shapes("train", size=32, count=64)
    for seed in (0, 1):
        sets = ["schedule.epochs=1", f"seed={seed}"]
        pretrain(TINY_RECIPE, source, folder / f"run{seed}", sets=sets)
    return folder


def test_runs_are_compared_on_which_their_loss_works(
    runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(runs)
    words = ["similarity", "run0", str(runs / "run1"), "--data", "shapes@val", "--num-images", "40"]
    assert call(*words, "--seed", "7", "--out", "out/here") == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "Space: embedding" in printed and "Views: as trained. 40 pairs" in printed
    text = Path("out/here/result.json").read_text()
    result = json.loads(text)
    assert result["command"] == "similarity" and result["seed"] == 7
    assert str(runs) not in text and result["data"] == "shapes@val"
    expected = similarity(
        {f"run{n}": load_projection(f"run{n}") for n in (0, 1)}, "shapes@val",
        num_images=40, seed=7, views="run0/recipe.yaml",
    )  # fmt: skip
    for name, kinds in expected.means().items():
        for kind in KINDS:
            assert result["metrics"]["models"][name][kind]["mean"] == kinds[kind]
            assert f"{kinds[kind]:z.3f}" in printed
    assert Path("out/here/similarity.html").stat().st_size > 10_000


def test_features_of_any_models_on_views_that_are_asked_for(
    runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(runs)
    words = ["run0", "timm:resnet18@random", "--data", "shapes@val", "--num-images", "4"]
    assert call("similarity", *words, "--size", "32", "--out", "mixed") == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "Space: features" in printed and "never negative" in printed
    assert "Views: moco-v2-imagenet." in printed
    words = ["run0", "--data", "shapes@val", "--num-images", "4", "--space", "features"]
    assert call("similarity", *words, "--views", "moco-v2-shapes", "--out", "one") == 0
    assert "Views: moco-v2-shapes." in " ".join(capsys.readouterr().out.split())
    assert json.loads(Path("one/result.json").read_text())["model"] == "run0"


def test_runs_trained_on_other_views_are_shown_mocos(runs: Path, tmp_path: Path) -> None:
    recipe = yaml.safe_load((runs / "run0" / "recipe.yaml").read_text())
    sets = ["schedule.epochs=1", "views.augmentations.color_jitter.p=0"]
    other = pretrain(recipe, Shapes("train", size=32, count=64), tmp_path / "other", sets=sets)
    both = [runs / "run0", other.folder]
    assert similarity(both, "shapes@val", num_images=4).views == "moco-v2-imagenet"
    assert similarity(both[1:], "shapes@val", num_images=4).views == "as trained"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["timm:resnet18@random", "--space", "embedding"], "is not a run of unshortcut"),
        (["timm:resnet18@random", "--space", "pixels"], "unknown space 'pixels'"),
        (["timm:resnet18@random", "--views", "moco-v2-shape"], "did you mean 'moco-v2-shapes'"),
        (["timm:resnet18@random", "--out", "taken"], "'taken' is a file"),
        (["nowhere"], "'nowhere' is not a model"),
    ],
)
def test_a_usage_error_is_one_sentence(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("taken").touch()
    assert call("similarity", *words, "--data", "shapes") == 2
    said = capsys.readouterr().err
    assert said.splitlines()[-1].startswith("error: ") and message in said
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_published_weights_with_a_head_have_an_embedding(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    layout = layouts.moco_v1()
    torch.save(layout.content, "moco.pth.tar")
    words = ["timm:test_resnet@moco.pth.tar", "--data", "shapes@val", "--num-images", "8"]
    words += ["--size", "32", "--space", "embedding"]
    assert call("similarity", *words, "--out", "theirs") == 0
    captured = capsys.readouterr()
    assert "Space: embedding" in captured.out and "head 96-12" in captured.err
    model = from_module(
        "expected",
        nn.Sequential(layout.encoder, layout.head),
        Preprocessing(size=32),
        features=layout.embeddings,
    )
    expected = similarity({"expected": model}, "shapes@val", num_images=8).means()["expected"]
    (found,) = json.loads(Path("theirs/result.json").read_text())["metrics"]["models"].values()
    for kind in KINDS:
        assert found[kind]["mean"] == pytest.approx(expected[kind], abs=1e-4)
    assert call("similarity", str(runs / "run0"), *words, "--out", "beside-a-run") == 0


def test_help_teaches_the_four_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("similarity", "--help") == 0
    said = capsys.readouterr().out
    assert all(f"{kind}:" in said for kind in KINDS) and "--space" in said
