"""The command line as a user meets it: help that teaches, one sentence on an error, exit status."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.small import TINY_RECIPE
from unshortcut.cli.main import main

COMMANDS = (
    "advise", "audit", "demo", "embed", "export", "filter", "neighbors", "pretrain", "probe",
    "recipes", "reproduce", "show", "similarity", "spaces", "texturize",
)  # fmt: skip


def call(*words: str) -> int:
    with pytest.raises(SystemExit) as stopped:
        main(list(words))
    assert isinstance(stopped.value.code, int)
    return stopped.value.code


def test_help_lists_every_command_and_is_quick() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "unshortcut.cli.main", "--help"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert all(command in done.stdout for command in COMMANDS)
    assert " torch\n" not in done.stderr, "help must not wait for torch"


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(command, "--help") == 0
    assert command in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--version") == 0
    assert capsys.readouterr().out.strip()[0].isdigit()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["pretrain", "moco-v2-shape"], "did you mean 'moco-v2-shapes'"),
        (["pretrain", "moco-v2-shapes", "--data", "nowhere"], "there is no folder 'nowhere'"),
        (["pretrain", "moco-v2-shapes", "--set", "data.batchsize=3"], "'data.batch_size'"),
        (["pretrain", "moco-v2-shapes", "--set", "data.batch_size=100000"], "larger than the data"),
        (["pretrain", "moco-v2-shapes", "--devices", "3"], "multiple of"),
        (["pretrain", "moco-v2-imagenet"], "folder"),
        (["probe", "nowhere", "--data", "shapes"], "'nowhere' is no model"),
        (["probe", "timm:resnet18@random", "--data", "shapes", "--kind", "knnn"], "'knn'"),
        (["probe", "timm:resnet18@random", "--data", "shapes", "--mean", "1"], "three numbers"),
        (["export", "nowhere"], "no finished run"),
        (["show", "moco-v2-shapes", "--data", "shapes", "--out", "x.txt"], "wants a picture"),
        (["embed", "timm:resnet18@random", "--data", "shapes", "--out", "x.csv"], ".npz"),
    ],
)
def test_a_usage_error_is_one_sentence_and_status_2(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert call(*words) == 2
    said = capsys.readouterr().err
    assert said.splitlines()[-1].startswith("error: ") and message in said
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_option_is_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("pretrain", "moco-v2-shapes", "--dta", "x") == 2
    assert "--dta" in capsys.readouterr().err


def test_debug_shows_the_traceback() -> None:
    with pytest.raises(Exception, match="unknown recipe"):
        main(["--debug", "pretrain", "moco-v2-shape"])


def test_from_a_recipe_to_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tiny.yaml").write_text(yaml.safe_dump(TINY_RECIPE))
    sets = ["--set", "schedule.epochs=1", "--set", "data.batch_size=2000"]
    assert call("show", "tiny.yaml", "--data", "shapes", "--out", "sheet.png", "--images", "2") == 0
    assert Path("sheet.png").stat().st_size > 1000
    assert call("pretrain", "tiny.yaml", "--data", "shapes", "--out", "run", *sets) == 0
    words = ["probe", "run", "--data", "shapes", "--on", "shapes@val", "--kind", "knn"]
    assert call(*words, "--json", "knn.json") == 0
    result = json.loads(Path("knn.json").read_text())
    assert result["command"] == "probe" and result["data"] == "shapes"
    assert 0 < result["metrics"]["val"]["accuracy"] < 100
    assert call("embed", "run", "--data", "shapes@val", "--out", "val.npz") == 0
    assert call("export", "run", "--to", "timm") == 0
    assert call("recipes") == 0
    assert call("recipes", "tiny.yaml") == 0
    printed = capsys.readouterr().out
    assert "wrote run/encoder.timm.pt" in printed and "moco-v2-shapes" in printed
