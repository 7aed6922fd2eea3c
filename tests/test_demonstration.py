"""The demo: its pictures and table, and, as a slow test, that the encoder has clearly learned."""

import json
from pathlib import Path

import numpy as np
import pytest

from unshortcut import demonstration
from unshortcut.demonstration import SPLITS, data_sheet, demo
from unshortcut.recipes.load import load_recipe, to_yaml


def test_the_data_sheet_shows_every_class_in_every_split() -> None:
    page = np.asarray(data_sheet())
    assert page.shape[0] > 7 * 128 and page.shape[1] > 8 * 128


def test_the_demo_trains_probes_and_writes_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    small = load_recipe("moco-v2-shapes", ["schedule.epochs=1", "data.batch_size=1000"])
    Path("small.yaml").write_text(to_yaml(small))
    monkeypatch.setattr(demonstration, "RECIPES", {"MoCo-v2": "small.yaml"})
    monkeypatch.setattr(demonstration, "TEST_IMAGES", 64)
    monkeypatch.setattr(demonstration, "AUDITED", ("shape_bias", "domain_shift", "confidence"))
    first = demo("out")
    assert {"shapes.png", "accuracy.png", "report.html", "result.json", "small.yaml"} == {
        path.name for path in Path("out").iterdir()
    }
    said = capsys.readouterr()
    assert "rotation" in said.out
    assert str(Path("out", "report.html")) in said.err
    page = Path("out/report.html").read_text()
    assert all(row in page for row in ("untrained", "MoCo-v2", "Shape bias", "sketch"))
    metrics = json.loads(Path("out/result.json").read_text())["metrics"]
    assert set(metrics) == {"untrained", "MoCo-v2", "verdicts", "seconds"}
    assert set(metrics["verdicts"]) == {"untrained", "MoCo-v2"}
    assert set(metrics["MoCo-v2"]["linear"]) == {*SPLITS, "rotation"}
    assert set(metrics["MoCo-v2"]["knn"]) == set(SPLITS)
    again = demo("out")
    assert again.scores == first.scores
    assert again.seconds < first.seconds


@pytest.mark.slow
def test_the_encoders_of_the_demo_have_clearly_learned_in_ten_minutes(tmp_path: Path) -> None:
    result = demo(tmp_path / "demo")
    for row in demonstration.RECIPES:
        trained = result.scores[row, "linear", "test"].mean
        assert trained >= result.scores["untrained", "linear", "test"].mean + 30
    assert result.seconds < 600
