"""`unshortcut probe`: what ± means is said, and every kind is reached from the command line."""

import json
import shutil
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.cli.test_cli import call
from unshortcut.inference.features import Features
from unshortcut.probes import prepare


@pytest.fixture(autouse=True)
def photos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two classes of six small images a split, and the same without classes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UNSHORTCUT_CACHE", str(tmp_path / "cache"))
    rng = np.random.default_rng(0)
    for split in ("train", "val"):
        for number in range(12):
            pixels = rng.integers(256, size=(32, 32, 3), dtype=np.uint8)
            for folder in (Path("photos", split, "ab"[number % 2]), Path("flat", split)):
                folder.mkdir(parents=True, exist_ok=True)
                Image.fromarray(pixels).save(folder / f"{number}.png")
    return tmp_path / "photos"


def probe(data: str, kind: str, *words: str) -> dict[str, dict[str, float]]:
    model = ["timm:resnet18@random", "--size", "32"]
    assert call("probe", *model, "--data", data, "--kind", kind, "--json", "x.json", *words) == 0
    metrics: dict[str, dict[str, float]] = json.loads(Path("x.json").read_text())["metrics"]
    return metrics


def test_few_shot_shows_and_keeps_its_interval(capsys: pytest.CaptureFixture[str]) -> None:
    metrics = probe("photos", "fewshot", "--set", "shots=[1, 3]", "--set", "trials=4")
    assert {"val, 1-shot", "val, 3-shot"} < set(metrics)
    score = metrics["val, 3-shot"]
    # 3.182 is the tables' t for three degrees of freedom.
    assert score["interval"] == pytest.approx(3.182 * score["std"] / 2, rel=1e-3)
    printed = capsys.readouterr().out
    assert f"{score['accuracy']:.2f} % ± {score['interval']:.2f}" in printed
    assert "± 95 % interval of the mean" in printed


def test_linear_and_rotation_show_a_standard_deviation(capsys: pytest.CaptureFixture[str]) -> None:
    for data, kind in (("photos", "linear"), ("flat", "rotation")):
        score = probe(data, kind, "--seeds", "2")["val"]
        assert set(score) == {"accuracy", "std"}
        printed = capsys.readouterr().out
        assert f"{kind} probe" in printed and "± standard deviation" in printed


def test_a_single_accuracy_has_no_interval(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(probe("photos", "knn", "--set", "k=[1]")["val"]) == {"accuracy"}
    assert "±" not in capsys.readouterr().out


def test_top_5_has_a_column_if_there_are_more_than_ten_classes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rng = np.random.default_rng(1)
    for split, name, number in product(("train", "val"), range(11), range(2)):
        folder = Path("many", split, f"class {name}")
        folder.mkdir(parents=True, exist_ok=True)
        pixels = rng.integers(256, size=(32, 32, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{number}.png")
    score = probe("many", "knn", "--set", "k=[20]")["val"]
    assert set(score) == {"accuracy", "top5"} and score["top5"] > score["accuracy"]
    printed = capsys.readouterr().out
    assert "top-5" in printed and f"{score['top5']:.2f} %" in printed
    shutil.copytree("many/val", "few")
    shutil.rmtree("few/class 0")
    probe("many", "knn", "--set", "k=[20]", "--on", "few")
    last = next(line for line in capsys.readouterr().out.splitlines() if "10 classes" in line)
    assert last.split("│")[3].strip() == "–", "ten classes have no top-5"
    probe("photos", "knn", "--set", "k=[1]")
    assert "top-5" not in capsys.readouterr().out


def test_a_protocol_says_what_it_trains_on(capsys: pytest.CaptureFixture[str]) -> None:
    metrics = probe("photos", "linear", "--protocol", "nsn", "--views", "2", "--seeds", "1")
    assert metrics["training"]["views"] == 2
    said = " ".join(capsys.readouterr().out.split())
    assert "protocol nsn, trained for 60 epochs on 2 cached copies of each image" in said
    assert "the paper makes new ones in every epoch" in said
    words = ("probe", "timm:resnet18@random", "--data", "photos", "--views", "2")
    assert call(*words) == 2
    assert "views need a protocol" in capsys.readouterr().err


def test_help_names_the_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("probe", "--help") == 0
    said = capsys.readouterr().out
    assert all(kind in said for kind in ("linear", "knn", "rotation", "fewshot"))


def test_the_workers_reach_the_features_and_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = []
    compute = prepare.compute_features

    def noting(*arguments: Any, workers: int | None, **settings: Any) -> Features:
        given.append(workers)
        return compute(*arguments, workers=workers, **settings, cache=False)

    monkeypatch.setattr(prepare, "compute_features", noting)
    plain = probe("photos", "knn", "--set", "k=[1]")
    assert probe("photos", "knn", "--set", "k=[1]", "--workers", "2") == plain
    assert given == [None, None, 2, 2]
