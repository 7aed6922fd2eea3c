"""`unshortcut reproduce` as a user meets it."""

import json
from pathlib import Path

import pytest
import yaml

from tests.cli.test_cli import call
from tests.reproduction.small import RECIPE
from unshortcut.reproduction.claim import all_claims, paper_metrics


def test_without_a_claim_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("reproduce") == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in all_claims())


def test_help_says_what_the_options_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("reproduce", "--help") == 0
    printed = capsys.readouterr().out
    assert all(option in printed for option in ("--seeds", "--only", "--transfer", "--cache"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["negatives-alfa"], "did you mean 'negatives-alpha'"),
        (["negatives-alpha", "--scale", "large"], "unknown scale 'large'"),
        (["negatives-alpha", "--only", "alpha=4"], "unknown variant 'alpha=4'"),
        (["negatives-alpha", "--values", "alpha"], "--values AXIS=V,V"),
        (["negatives-alpha", "--test", "sketch="], "--test NAME=DATA"),
        (["negatives-alpha", "--transfer", "sketch=photos"], "NAME=TRAIN:TEST"),
        (["negatives-alpha", "--data", "nowhere"], "there is no folder 'nowhere'"),
        (["negatives-similarity", "--test", "x=shapes"], "does not use tests"),
    ],
)
def test_a_usage_error_is_one_sentence_and_status_2(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert call("reproduce", *words) == 2
    said = capsys.readouterr().err
    assert (
        said.count("error: ") == 1 and message in said.splitlines()[-1] and "Traceback" not in said
    )
    assert list(tmp_path.iterdir()) == []


def test_a_claim_on_a_folder_of_images_leaves_its_result_where_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from PIL import Image

    from unshortcut.data.shapes import Shapes

    monkeypatch.chdir(tmp_path)
    source = Shapes("train", size=24, count=96)
    for index in range(96):
        split = "train" if index < 64 else "val"
        path = Path("photos") / split / f"class{index % 2}" / f"{index}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(source.image(index).pixels()).save(path)
    Path("tiny.yaml").write_text(yaml.safe_dump(RECIPE))
    place = str(Path("photos").absolute())
    words = ["reproduce", "negatives-alpha", "--recipe", "tiny.yaml", "--data", place]
    words += ["--seeds", "1", "--only", "alpha=0", "--set", "schedule.epochs=1"]
    words += ["--transfer", f"sketch={place}:{place}@val", "--cache", "trainings"]
    assert call(*words, "--json", "kept.json") == 0
    kept = json.loads(Path("kept.json").read_text())
    assert kept == json.loads(Path("reproduce/negatives-alpha/result.json").read_text())
    assert kept["command"] == (
        "unshortcut reproduce negatives-alpha --data photos --seeds 1 --scale small --recipe "
        "tiny.yaml --set schedule.epochs=1 --only alpha=0 --transfer sketch=photos:photos@val"
    )
    (metrics,) = kept["variants"]["alpha=0"]["metrics"]
    assert set(metrics) == {"test", "texture", "sketch"}
    printed = paper_metrics("moco-v2-imagenet100")["imagenet100_top1"]
    assert f" {printed:g} " in capsys.readouterr().out
