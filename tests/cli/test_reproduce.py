"""`unshortcut reproduce` as a user meets it."""

import json
from pathlib import Path

import pytest
import yaml
from PIL import Image

from tests.cli.test_cli import call
from tests.reproduction.small import RECIPE
from unshortcut.data.shapes import Shapes
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
        (["negatives-alpha", "--only", "alpha=7"], "unknown variant 'alpha=7'"),
        (["negatives-alpha", "--values", "alpha"], "--values AXIS=V,V"),
        (["negatives-alpha", "--test", "sketch="], "--test NAME=DATA"),
        (["negatives-alpha", "--transfer", "sketch=photos"], "NAME=TRAIN:TEST"),
        (["negatives-alpha", "--data", "nowhere"], "there is no folder 'nowhere'"),
        (["negatives-similarity", "--test", "x=shapes"], "does not use tests"),
        (["negatives-memory", "--conflict", "nowhere"], "does not use conflict"),
        (["negatives-alpha", "--conflict", "shapes"], "--conflict is for other data"),
        (["--all", "negatives-alpha"], "--all and a CLAIM do not go together"),
        (["--all", "--seeds", "2"], "--all and --seeds do not go together"),
        (["--status", "--jobs", "2"], "--status and --jobs do not go together"),
        (["--evidence", "nowhere"], "there is no folder 'nowhere'"),
        (["--evidence", "nowhere", "--scale", "laptop"], "--evidence and --scale do not go"),
        (["negatives-alpha", "--hierarchy", "nowhere.csv"], "'nowhere.csv' cannot be read"),
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


def test_jobs_are_one_or_more(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("reproduce", "negatives-alpha", "--jobs", "0") == 2
    assert "--jobs" in capsys.readouterr().err


def test_the_status_of_a_claim_needs_no_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("reproduce", "looc-color", "--status", "--cache", str(tmp_path)) == 0
    printed = capsys.readouterr().out
    assert "not decided" in printed and "0 of 4" in printed and "0 of 8" in printed
    assert "unshortcut reproduce looc-color --scale laptop --jobs 2" in printed


def test_a_claim_on_a_folder_of_images_leaves_its_result_where_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_photos(Path("photos"))
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
    said = capsys.readouterr()
    assert f" {printed:g} " in said.out
    before = " ".join(said.err.partition("training 1 of 1")[0].split())
    assert "Shape bias" in before and "not measured" in before and "--conflict" in before
    assert any("--conflict" in note for note in kept["notes"])


def test_stimuli_and_a_hierarchy_add_the_other_panels_of_figure_6(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    classes = ("cat", "dog", "lynx")
    write_photos(Path("photos"), classes)
    write_photos(Path("stimuli"), ("cat", "dog"), "{name}/{name}{index}-{other}{index}.png", 32)
    Path("kinds.csv").write_text("cat,feline\nlynx,feline\ndog,canine\n")
    words = ["reproduce", "negatives-alpha", "--recipe", "tiny.yaml", "--data", "photos"]
    words += ["--seeds", "1", "--only", "alpha=0", "--set", "schedule.epochs=1"]
    words += ["--conflict", str(tmp_path / "stimuli"), "--hierarchy", "kinds.csv"]
    assert call(*words, "--cache", "trainings", "--json", "kept.json") == 0
    kept = json.loads(Path("kept.json").read_text())
    assert kept["command"].endswith("--only alpha=0 --conflict stimuli --hierarchy kinds.csv")
    (found,) = kept["variants"]["alpha=0"]["metrics"]
    assert found["conflict_coverage"] == found["conflict_shape"] + found["conflict_texture"] == 100
    assert found["shape_bias"] == found["conflict_shape"]
    assert 0 <= found["fine"] <= found["coarse"] <= 100
    assert found["gap"] == pytest.approx(found["coarse"] - found["fine"])
    said = capsys.readouterr()
    before = " ".join(said.err.partition("training 1 of 1")[0].split())
    assert "32 of 32 stimuli" in before and "2 of the 16 categories (cat, dog)" in before
    assert "coverage" in said.out and "hierarchy," in said.out


def write_photos(
    folder: Path,
    classes: tuple[str, ...] = ("class0", "class1"),
    name: str = "{split}/{name}/{index}.png",
    count: int = 96,
) -> None:
    """Drawn images of these classes in turn, and the recipe `tiny.yaml`."""
    source = Shapes("train", size=24, count=count)
    for index in range(count):
        path = folder / name.format(
            split="train" if index < 64 else "val",
            name=classes[index % len(classes)],
            other=classes[(index + 1) % len(classes)],
            index=index,
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(source.image(index).pixels()).save(path)
    Path("tiny.yaml").write_text(yaml.safe_dump(RECIPE))
