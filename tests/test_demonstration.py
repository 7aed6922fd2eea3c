"""The demo: what it writes and says; as a slow test, that its classifier cheats."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from rich.console import Console

from tests.small import TINY_RECIPE
from unshortcut.data.shapes import source
from unshortcut.demonstration import cheater, demo, encoders, run
from unshortcut.demonstration.clock import Clock
from unshortcut.demonstration.encoders import EMBEDDED, RECIPES, SPLITS, data_sheet
from unshortcut.models.card import read_card
from unshortcut.models.embedded import embedded_path
from unshortcut.recipes.load import load_recipe

TINY_CHEATER = {
    "extends": "supervised-marks-shapes",
    **{key: TINY_RECIPE[key] for key in ("data", "views", "encoder", "schedule", "training")},
}


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A demo of seconds: few images, and tiny networks."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(source, "COUNTS", dict.fromkeys(source.COUNTS, 64))
    for name, recipe in (("tiny.yaml", TINY_RECIPE), ("cheater.yaml", TINY_CHEATER)):
        Path(name).write_text(yaml.safe_dump(recipe))
    monkeypatch.setattr(cheater, "RECIPE", "cheater.yaml")
    monkeypatch.setattr(cheater, "MEASURED", ("transplant", "domain_shift"))
    monkeypatch.setattr(run, "SHORT_RECIPE", "tiny.yaml")
    monkeypatch.setattr(run, "SHORT_EPOCHS", 3)
    monkeypatch.setattr(run, "RECIPES", {"MoCo-v2": "tiny.yaml"})
    monkeypatch.setattr(encoders, "EMBEDDED", {"MoCo-v2": EMBEDDED["MoCo-v2"]})
    monkeypatch.setattr(encoders, "TEST_IMAGES", 64)
    monkeypatch.setattr(encoders, "AUDITED", ("shape_bias", "domain_shift", "confidence"))


def listening() -> tuple[Console, io.StringIO]:
    heard = io.StringIO()
    return Console(file=heard, width=300), heard


def test_the_data_sheet_shows_every_class_in_every_split() -> None:
    page = np.asarray(data_sheet())
    assert page.shape[0] > 7 * 128 and page.shape[1] > 8 * 128


@pytest.mark.usefixtures("small")
def test_the_demo_cheats_trains_probes_and_writes_what_it_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    console, heard = listening()
    first = demo("out", console=console)
    assert {path.name for path in Path("out").iterdir()} == {
        "cheater.html", "cheater.png", "shapes.png", "accuracy.png", "report.html", "result.json",
        "cheater.yaml", "tiny.yaml",
    }  # fmt: skip
    said = heard.getvalue()
    assert [f"{step} of 5" in said for step in range(1, 6)] == [True] * 5
    assert said.count("left)") == 5 + 3  # the steps, and the encoders that are probed
    assert "Interrupted on purpose: stopped by SIGINT" in said
    assert Path("out/tiny.yaml/encoder.timm.pt").is_file()
    assert said.index("cheater.png") < said.index("report.html")
    assert "without the planted marks" in said
    assert "rotation" in capsys.readouterr().out
    page = Path("out/report.html").read_text()
    assert all(row in page for row in ("untrained", "MoCo-v2", "Shape bias", "sketch"))
    metrics = json.loads(Path("out/result.json").read_text())["metrics"]
    assert set(metrics["verdicts"]) == {"untrained", "MoCo-v2"}
    assert set(metrics["MoCo-v2"]["linear"]) == {*SPLITS, "rotation"}
    assert set(metrics[run.SHORT]["knn"]) == set(SPLITS)
    assert 0 < metrics["first_picture_seconds"] < metrics["seconds"]
    console, heard = listening()
    again = demo("out", console=console)
    assert again.scores == first.scores
    assert heard.getvalue().count("is trained already") == 2


@pytest.mark.usefixtures("small")
def test_with_train_the_encoders_are_trained_instead_of_taken_from_the_package() -> None:
    console, heard = listening()
    result = demo("out", train=True, console=console)
    assert {row for row, _, _ in result.scores} == {"untrained", "MoCo-v2"}
    assert "training MoCo-v2 (" in heard.getvalue()
    assert "Interrupted" not in heard.getvalue()


def test_the_time_that_is_left_follows_the_speed_of_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr("unshortcut.demonstration.clock.time.monotonic", lambda: now)
    console, heard = listening()
    clock = Clock({"one": 10, "two": 20, "three": 70}, console)
    clock.begin("one")
    now = 120.0  # twice as slow
    clock.begin("two")
    now = 160.0
    clock.part("half of it", 0.5)
    now = 220.0  # and slower still: 120 of 30 seconds
    clock.begin("three")
    assert heard.getvalue().splitlines() == [
        "1 of 3: one (about 1 min 40 s left)",
        "2 of 3: two (about 3 min 0 s left)",
        "  half of it (about 4 min 0 s left)",
        "3 of 3: three (about 4 min 40 s left)",
    ]


@pytest.mark.parametrize("label", list(RECIPES))
def test_an_encoder_of_the_package_is_that_of_its_recipe(label: str) -> None:
    card = read_card(embedded_path(EMBEDDED[label].removeprefix("embedded:")))
    assert card.recipe is not None
    # As it is read today: settings that are younger than the card have their defaults.
    assert load_recipe(card.recipe) == load_recipe(RECIPES[label])
    assert card.command == f"unshortcut pretrain {RECIPES[label]} --out {RECIPES[label]}"
    assert card.hardware["threads"] == 1 and card.hardware["processor"]
    assert card.versions["torch"]


@pytest.mark.slow
def test_the_demo_shows_a_classifier_that_cheats_and_encoders_that_differ(tmp_path: Path) -> None:
    result = demo(tmp_path / "demo")
    assert result.cheating.accuracy > 0.985
    assert result.cheating.without_marks < 0.2
    assert result.cheating.follow > 0.2
    for row in RECIPES:
        learned = result.scores[row, "linear", "test"].mean
        assert learned >= result.scores["untrained", "linear", "test"].mean + 40
    assert result.first_picture_seconds < 180
    assert result.seconds < 600
