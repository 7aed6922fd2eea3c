"""`unshortcut filter` and `unshortcut texturize` as a user meets them."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.build.killing import wait_for
from tests.build.sets import digests, pixels, plain_tree, write_shards
from unshortcut.build.operation import OPERATIONS, Operation
from unshortcut.cli.main import main
from unshortcut.discovery import find_all


def call(*words: str) -> int:
    with pytest.raises(SystemExit) as stopped:
        main(list(words))
    assert isinstance(stopped.value.code, int)
    return stopped.value.code


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    plain_tree(tmp_path / "photos", 6)


def test_help_names_every_method(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("filter", "--help") == 0
    said = capsys.readouterr().out
    assert all(f"{name}:" in said for name in find_all(OPERATIONS.package, Operation))


def test_filter_tells_what_it_did(capsys: pytest.CaptureFixture[str]) -> None:
    Path("photos/train/c0/bad.jpg").write_bytes(b"bad")
    words = ["filter", "photos", "smooth", "--method", "gaussian", "--set", "sigma=[1,2]"]
    assert call(*words, "--format", "png", "--json", "result.json") == 0
    said = capsys.readouterr().out.replace("\n", " ")
    assert "made 6 images in" in said and "images a second" in said
    assert "1 of 7 could not be read, listed in" in said
    assert len(list(Path("smooth").rglob("*.png"))) == 6
    told = json.loads(Path("smooth/unshortcut.json").read_text())
    assert told["operation"]["sigma"] == [1.0, 2.0] and len(told["failures"]) == 1
    result = json.loads(Path("result.json").read_text())
    assert result["command"] == "filter" and result["data"] == "photos"
    assert result["metrics"]["made"] == 6 and result["metrics"]["failed"] == 1
    assert call(*words, "--format", "png") == 0
    assert "nothing to do: all 6 images are in" in capsys.readouterr().out


def test_texturize_makes_textures(capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "texturize",
        "photos@train",
        "textures",
        "--size",
        "32",
        "--patch",
        "16",
        "--keep-originals",
    ]
    assert call(*words, "--seed", "3", "--workers", "1", "--quality", "90") == 0
    assert "made 3 images in" in capsys.readouterr().out
    copies = sorted(Path("textures").rglob("*-texture.jpg"))
    assert [pixels(copy).shape for copy in copies] == [(32, 32, 3)] * 3
    assert len(list(Path("textures").rglob("*.jpg"))) == 6


def test_shards_become_shards() -> None:
    pattern = write_shards(Path("shards"), 2, 2)
    assert call("filter", pattern, "out", "--method", "robust", "--set", "iterations=2") == 0
    assert {path.name for path in Path("out").iterdir()} == {
        "s-00.tar", "s-01.tar", "unshortcut.json"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--method", "anisotropc"], "did you mean 'anisotropic'"),
        (["--set", "kapa=1"], "did you mean 'kappa'"),
        (["--set", "kappa"], "--set wants key=value"),
        (["--set", "seed=1"], "unknown key 'seed'"),
        (["--set", "gamma=1"], "gamma must be above 0"),
        (["--format", "gif"], "'format' must be"),
        (["--engine", "spark"], "engine must be 'local' or 'ray'"),
        (["--address", "auto"], "can only be given with the engine 'ray'"),
    ],
)
def test_a_wrong_option_is_one_sentence_and_status_2(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("filter", "photos", "out", *words) == 2
    said = capsys.readouterr().err
    assert said.count("error: ") == 1 and message in said.splitlines()[-1]
    assert not Path("out").exists()


def test_places_that_cannot_be_are_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    for source, destination, message in (
        ("photos", "photos/smooth", "lies inside the source"),
        ("photos", "photos", "is the source itself"),
        ("photos/train", "photos", "lies inside"),
        ("nowhere", "out", "there is no folder 'nowhere'"),
    ):
        assert call("texturize", source, destination) == 2
        assert message in capsys.readouterr().err
    assert sorted(path.name for path in Path("photos").iterdir()) == ["train", "val"]


def test_a_run_that_fails_is_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad").mkdir()
    Path("bad/1.jpg").write_bytes(b"bad")
    assert call("filter", "bad", "out") == 1
    assert "none of the 1 images could be read; 1.jpg: " in capsys.readouterr().err


def test_a_stopped_program_says_how_to_go_on_and_goes_on() -> None:
    plain_tree(Path("many"), 60)
    words = ["texturize", "many", "out", "--size", "112", "--workers", "2"]
    program = [sys.executable, "-m", "unshortcut.cli.main", *words]
    run = subprocess.Popen(program, stderr=subprocess.PIPE, text=True, start_new_session=True)
    wait_for(Path("out"), 2, lambda: run.poll() is None)
    os.killpg(run.pid, signal.SIGINT)  # as a terminal does: to the workers too
    _, said = run.communicate(timeout=120)
    assert run.returncode == 128 + signal.SIGINT
    assert "error: stopped: " in said and "Traceback" not in said
    assert "of 60 images are done; run the same command again to continue" in said
    assert call(*words) == 0
    assert call("texturize", "many", "whole", "--size", "112") == 0
    assert digests(Path("out")) == digests(Path("whole"))
