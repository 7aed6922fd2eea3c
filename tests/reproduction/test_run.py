"""Reproducing a claim: trained once, taken up again, tabulated; nothing private in the result."""

import json
import re
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from PIL import Image

from tests.reproduction.small import SETS, all_tests, images, run
from unshortcut.errors import InterruptedRunError, UsageError
from unshortcut.models.card import WEIGHTS_FILE
from unshortcut.reproduction import reproduce
from unshortcut.reproduction import training_job as job_module
from unshortcut.reproduction.claim import paper_metrics
from unshortcut.reproduction.claims.looc_color import LoocColor
from unshortcut.reproduction.measures.spaces import SpacesMeasure
from unshortcut.reproduction.measures.tasks import FactorsMeasure
from unshortcut.reproduction.training_job import TrainingJob
from unshortcut.training import safeguards
from unshortcut.training.pretraining import pretrain


def refuse(*arguments: Any, **settings: Any) -> None:
    raise AssertionError("nothing should be trained or measured")


def test_a_claim_is_trained_measured_and_written_and_a_second_call_only_tabulates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = run(tmp_path, seeds=2)
    assert first.trained == 4
    assert [f.what for f in first.findings] == ["alpha=2 - alpha=0"] * 2
    assert all(len(f.values) == 2 and f.interval is not None for f in first.findings)
    assert (tmp_path / "out" / "plot.png").read_bytes().startswith(b"\x89PNG")

    text = (tmp_path / "out" / "result.json").read_text()
    assert str(tmp_path) not in text and not re.search(r'"/|=/|:/', text)
    record = json.loads(text)
    assert record["command"] == (
        "unshortcut reproduce small --data Shapes --seeds 2 --scale small --recipe dict "
        "--test test=Shapes --test conflict=Shapes --test sketch=Shapes --test silhouette=Shapes "
        "--test texture=Shapes --test stylized=Shapes"
    )
    assert record["seeds"] == [0, 1] and record["version"] and "commit" in record
    found = record["variants"]["alpha=2"]
    assert found["changes"] == ["method.negatives.patch.alpha=2"]
    assert found["paper"] == {"test": 72.0}
    assert len(set(found["trainings"])) == 2 and min(found["seconds"]) > 0
    assert set(found["metrics"][0]) >= {"test", "sketch", "shape_bias", "coverage"}
    assert record["effects"][0]["paper"] == 2.0
    keys = {key for one in record["variants"].values() for key in one["trainings"]}
    assert {path.name for path in (tmp_path / "trainings").iterdir()} == keys

    printed = capsys.readouterr()
    assert "photographs" in printed.out and "verdict" in printed.out
    minutes = fmean(found["seconds"]) / 60
    (row,) = [line for line in printed.out.splitlines() if line.startswith("│ alpha=2 ")]
    assert "minutes" in printed.out and row.split("│")[-2].strip() == f"{minutes:.1f}"
    assert "training 4 of 4" in printed.err

    monkeypatch.setattr(job_module, "pretrain", refuse)
    monkeypatch.setattr("unshortcut.probes.run.probe", refuse)
    again = run(tmp_path, seeds=2)
    assert again.trained == 0
    assert again.metrics == first.metrics
    assert "all 4 trainings are there already" in capsys.readouterr().err


def test_a_training_of_which_only_the_metrics_were_kept_is_run_again_for_other_measures(
    tmp_path: Path,
) -> None:
    first = run(tmp_path)
    for training in (tmp_path / "trainings").iterdir():
        for path in [*training.rglob("*.safetensors"), *training.rglob("*.ckpt")]:
            path.unlink()
    again = run(tmp_path)
    assert again.trained == 0 and again.metrics == first.metrics
    assert not list((tmp_path / "trainings").rglob("*.safetensors"))

    for path in (tmp_path / "trainings").rglob("linear_probe-*.json"):
        path.unlink()
    assert run(tmp_path).metrics == first.metrics
    assert len(list((tmp_path / "trainings").rglob("*.safetensors"))) == 2


def test_an_interrupted_experiment_goes_on_to_the_same_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(tmp_path / "whole")

    stop_at = 7  # batches of both trainings: in the second epoch of the second one
    seen = 0
    ends = safeguards.StepExchange.on_train_batch_end

    def interrupt(self: Any, *arguments: Any) -> None:
        nonlocal seen
        seen += 1
        if seen == stop_at:
            self.checkpointing.signals.received = 2
        ends(self, *arguments)

    monkeypatch.setattr(safeguards.StepExchange, "on_train_batch_end", interrupt)
    with pytest.raises(InterruptedRunError, match=r"training 2 of 2.*the same command continues"):
        run(tmp_path / "part")
    done = list((tmp_path / "part" / "trainings").rglob(WEIGHTS_FILE))
    assert len(done) == 1
    before = next(t for t in whole.trainings if t.variant == "alpha=2").key
    seconds = json.loads((tmp_path / "part" / "trainings" / before / "seconds.json").read_text())

    calls = []
    monkeypatch.setattr(
        job_module, "pretrain", lambda *a, **k: (calls.append(k["resume"]), pretrain(*a, **k))
    )
    resumed = run(tmp_path / "part")
    assert calls == [True] and resumed.trained == 1
    assert resumed.metrics == whole.metrics
    for one, other in zip(whole.trainings, resumed.trainings, strict=True):
        assert one.run.weights.read_bytes() == other.run.weights.read_bytes()
    again = resumed.trainings[1].seconds
    assert again is not None and again > seconds["seconds"], "seconds of both parts add up"


def test_a_failure_leaves_what_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train = TrainingJob.train

    def fail(self: TrainingJob, console: Any) -> None:
        if self.variant == "alpha=2":
            raise RuntimeError("no power")
        train(self, console)

    monkeypatch.setattr(TrainingJob, "train", fail)
    with pytest.raises(RuntimeError, match="no power"):
        run(tmp_path)
    monkeypatch.setattr(TrainingJob, "train", train)
    assert run(tmp_path).trained == 1


def test_only_values_and_transfers_shape_the_experiment(tmp_path: Path) -> None:
    transfers = {"drawings": (images(), images("sketch"))}
    outcome = run(tmp_path, values={"alpha": ["0", "1"]}, only=["alpha=1"], transfers=transfers)
    assert [variant.label for variant in outcome.variants] == ["alpha=1"]
    assert outcome.findings == []
    assert outcome.columns[-1].measure == "drawings"
    assert 0 <= outcome.metrics["alpha=1"][0]["drawings"] <= 100


def test_variants_that_read_the_same_training_share_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(LoocColor, "measures", (FactorsMeasure(seeds=1), SpacesMeasure(seeds=1)))
    outcome = reproduce(
        "looc-color",
        images(),
        only=["method=moco-no-jitter", "method=looc-color", "method=looc-color:color"],
        sets=SETS,
        seeds=1,
        tests=all_tests(),
        out=tmp_path / "out",
        cache=tmp_path / "trainings",
    )
    assert outcome.trained == 2
    assert "training 2 of 2: method=looc-color (and 1 more) seed=0" in capsys.readouterr().err
    record = json.loads((tmp_path / "out" / "result.json").read_text())["variants"]
    assert {label: one["recipe"] for label, one in record.items()} == {
        "method=moco-no-jitter": "moco-v2-shapes",
        "method=looc-color": "looc-color-shapes",
        "method=looc-color:color": "looc-color-shapes",
    }
    shared = [one for label, one in record.items() if "looc-color" in label]
    assert len({tuple(one["trainings"]) for one in shared}) == 1
    backbone, space = (one["metrics"][0] for one in shared)
    assert backbone != space and "color" in backbone.keys() & space.keys()


def test_a_claim_that_compares_recipes_goes_to_other_images_with_its_first_row(
    tmp_path: Path,
) -> None:
    for split, count in (("train", 64), ("val", 8)):
        for index in range(count):
            path = tmp_path / "photos" / split / f"class{index % 2}" / f"{index}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(images(split).image(index).pixels()).save(path)
    outcome = reproduce(
        "looc-rotation",
        tmp_path / "photos",
        recipe="moco-v2-imagenette",
        only=["method=moco-same-rotation", "method=looc-rotation"],
        sets=SETS,
        seeds=1,
        out=tmp_path / "out",
        cache=tmp_path / "trainings",
    )
    assert [training.recipe.method.name for training in outcome.trainings] == ["moco", "looc"]
    assert all(set(one) == {"test", "texture", "rotation"} for (one,) in outcome.metrics.values())
    (finding,) = outcome.findings
    looc, moco = (
        paper_metrics(f"{row}-imagenet100")["rotation"]
        for row in ("looc-rotation", "moco-v2-same-rotation-500ep")
    )
    assert finding.measure == "rotation" and finding.paper == pytest.approx(looc - moco)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"only": ["alpha=3"]}, "did you mean 'alpha="),
        ({"values": {"alfa": ["0"]}}, "did you mean 'alpha'"),
        ({"seeds": 0}, "at least 1"),
        ({"scale": "papers"}, "did you mean 'paper'"),
        ({"sets": ["seed=3"]}, "--seeds gives their number"),
        ({"sets": ["method.negatives.patch.alpha=3"]}, "the claim varies it itself"),
        ({"sets": ["schedule.epoch=3"]}, "'schedule.epochs'"),
        ({"transfers": {"sketch": (images(), images())}}, "'sketch' is a test set already"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_trained(
    changed: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=message):
        run(tmp_path, **changed)
    assert list(tmp_path.iterdir()) == []
