"""`unshortcut advise` as a user meets it: a sentence, a table, an encoder to go on with."""

import json
from pathlib import Path

import pytest

from tests.cli.test_cli import call
from tests.methods.small_runs import small_run
from unshortcut.data.shapes.source import COUNTS
from unshortcut.models.load import load_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run."""
    folder = tmp_path_factory.mktemp("advise")
    sets = ("schedule.epochs=1", "method.hidden=12", "method.dim=8")
    small_run("looc-color-rotation-shapes", folder / "run", sets)
    return folder


@pytest.fixture(autouse=True)
def small_shapes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The `val` split of a few images."""
    monkeypatch.chdir(folder)
    monkeypatch.setitem(COUNTS, "val", 40)


def test_the_advice_is_said_first_and_its_encoder_loads(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--data", "shapes@val", "--out", "new/advice", "--json", "copy.json"]
    assert call("advise", str(folder / "run"), *words, "--seed", "5", "--repeats", "2") == 0
    text = Path("new/advice/result.json").read_text()
    result = json.loads(text)
    assert text == Path("copy.json").read_text() and str(folder) not in text
    assert result["command"] == "advise" and result["seed"] == 5 and result["model"] == "run"
    metrics = result["metrics"]
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.startswith(metrics["advice"])
    assert len(metrics["candidates"]) == 8 and sum(metrics["num_images"].values()) == 40
    for row in metrics["candidates"].values():
        low, high = row["interval"]
        assert f"{row['accuracy']:.1f} ({low:.1f} to {high:.1f})" in printed
    used = metrics["candidates"][metrics["use"]]
    spaces = load_model("new/advice").spaces
    assert spaces == (None if used["spaces"] is None else tuple(used["spaces"]))
    assert "wrote new/advice/encoder.safetensors" in printed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere", "--data", "shapes@val"], "'nowhere' is not a run"),
        (["run", "--data", "shape"], "did you mean 'shapes'"),
        (["run", "--data", "shapes@val", "--out", "taken"], "'taken' is a file"),
    ],
)
def test_a_usage_error_is_one_sentence(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("taken").touch()
    assert call("advise", *words) == 2
    said = capsys.readouterr().err
    assert said.splitlines()[-1].startswith("error: ") and message in said
    assert not Path("advice").exists()


def test_help_teaches_the_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("advise", "--help") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "unless a subset is significantly better" in said and "inconclusive" in said
