"""`unshortcut compare` as a user meets it."""

import json
from pathlib import Path

import pytest

from tests.cli.test_cli import call
from tests.report.audits import BIAS, MCE, SKETCH, model, write_audit


@pytest.fixture(autouse=True)
def _audits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_audit(Path("a.json"), {"one": model(0.1, 0.2), "two": model(0.3, 0.3)})
    write_audit(Path("b.json"), {"three": model(0.4, 0.6, **{MCE: 70.0})})


def test_without_metrics_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("compare", "a.json", "b.json") == 0
    lines = capsys.readouterr().out.replace("\N{NO-BREAK SPACE}", " ").splitlines()
    (bias,) = (line for line in lines if BIAS in line)
    assert "Shape bias" in bias and "3 of 3" in bias and "10.0 %" in bias and "40.0 %" in bias
    (mce,) = (line for line in lines if MCE in line)
    assert "1 of 3" in mce and "70.0" in mce
    assert not Path("compare.html").exists()


def test_long_names_are_not_shortened(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    name = "same_decisions_of_a_measurement_with_a_long_name"
    content = json.loads(Path("a.json").read_text())
    metrics = content["metrics"]["models"]["one"]["metrics"]
    metrics[name] = metrics[BIAS]
    Path("a.json").write_text(json.dumps(content))
    assert call("compare", "a.json") == 0
    assert name in capsys.readouterr().out


def test_a_page_and_values_are_written(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", "a.json", "b.json", "--x", BIAS, "--y", SKETCH]
    assert call(*words, "--label", "one=First=1", "--json", "kept.json") == 2
    assert "unknown model 'one=First'" in capsys.readouterr().err
    assert call(*words, "--label", "one=First", "--json", "kept.json") == 0
    said = capsys.readouterr().out
    assert "First" in said and "an interval needs at least 4" in said
    assert "wrote compare.html and kept.json" in said
    kept = json.loads(Path("kept.json").read_text())
    assert kept["command"] == "compare" and len(kept["metrics"]["points"]) == 3
    assert Path("compare.html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a.json", "--x", BIAS], "give both --x and --y"),
        (["a.json", "--x", BIAS, "--y", "sketch"], "unknown metric 'sketch'"),
        (["nowhere.json"], "'nowhere.json' cannot be read"),
        (["a.json", "--x", BIAS, "--y", SKETCH, "--label", "one"], "--label MODEL=TEXT"),
        (["a.json", "--x", BIAS, "--y", SKETCH, "--out", "."], "is a folder"),
    ],
)
def test_a_usage_error_is_one_sentence_and_status_2(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("compare", *words) == 2
    said = capsys.readouterr().err
    assert said.count("error: ") == 1 and message in said and "Traceback" not in said
