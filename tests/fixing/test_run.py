"""From a model with a shortcut to a fixed one, and when there is nothing to fix."""

import json
from pathlib import Path

import numpy as np
import pytest
import timm
from safetensors.torch import load_file

from tests.fixing.tagged import TAGGED_CLASS, Tagged, write_cues
from tests.small import TINY
from unshortcut.cli.main import main
from unshortcut.errors import UsageError
from unshortcut.fixing.first_head import load_frozen, probe_head
from unshortcut.fixing.run import fix
from unshortcut.inference.features import compute_features
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.measuring.linear_head import Head
from unshortcut.models.card import Card, save_encoder
from unshortcut.models.encoder import create_encoder
from unshortcut.models.load import load_model

SIZE = 64


@pytest.fixture(scope="module")
def cheat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classifier on untrained features whose head was fitted on images with a tag."""
    folder = tmp_path_factory.mktemp("cheat")
    encoder = create_encoder(TINY, seed=0).eval()
    preprocessing = Preprocessing(size=SIZE, crop_share=1.0)
    train = Tagged("train", 800, share=0.95)
    weights = folder / "encoder.safetensors"
    save_encoder(encoder, Card(encoder=TINY, preprocessing=preprocessing, dim=encoder.dim), weights)
    features = compute_features(load_model(folder), train, workers=1)
    assert train.classes is not None
    head = probe_head(features, len(train.classes), seed=0)
    card = Card(
        encoder=TINY, preprocessing=preprocessing, dim=encoder.dim, classes=list(train.classes)
    )
    save_encoder(encoder, card, weights, head.layer())
    return folder


def untagged_accuracy(cheat: Path, head: Head) -> float:
    """Accuracy on the tagged class without its tag."""
    source = Tagged("test", 400, tagged=False)
    features = compute_features(load_frozen(cheat).features, source, workers=1)
    own = features.required_labels() == TAGGED_CLASS
    return float((head.predict(features.values[own]) == TAGGED_CLASS).mean())


def test_a_cue_that_is_pasted_everywhere_no_longer_decides(cheat: Path, tmp_path: Path) -> None:
    refit, test = Tagged("val", 600), Tagged("test", 400)
    cues = write_cues(tmp_path / "cues.csv", refit, test)
    run = fix(cheat, refit, tmp_path / "fixed", groups=cues, test=test, only=("confidence",))
    assert run.outcome.word == "fixed" and run.report is not None
    first = load_frozen(cheat).own_head(test.classes or ())
    assert first is not None
    clean = Tagged("val", 600, tagged=False)
    features = compute_features(load_frozen(cheat).features, clean, workers=1)
    ideal = untagged_accuracy(cheat, probe_head(features, len(clean.classes or ()), seed=0))
    old, new = (untagged_accuracy(cheat, head) for head in (first, run.outcome.head))
    assert new - old >= 0.8 * (ideal - old) and ideal - old > 0.1
    result = json.loads((run.folder / "result.json").read_text())["metrics"]
    assert result["method"] == "pasted" and result["outcome"] == "fixed"
    assert "arrow, without" in " ".join(result["test"]["before"]["by_group"])


def test_the_fixed_model_is_a_classifier_like_any_other(cheat: Path, tmp_path: Path) -> None:
    refit, test = Tagged("val", 600), Tagged("test", 200)
    cues = write_cues(tmp_path / "cues.csv", refit)
    run = fix(cheat, refit, tmp_path / "fixed", groups=cues, test=test, only=("confidence",))
    loaded = load_model(run.folder)
    assert loaded.classes == test.classes and loaded.logits is not None
    model = timm.create_model(TINY.name, num_classes=len(test.classes or ()), **TINY.options)
    model.load_state_dict(load_file(run.folder / "encoder.safetensors"))
    np.testing.assert_allclose(
        model.fc.weight.detach().numpy(), run.outcome.head.weight, rtol=1e-5, atol=1e-6
    )
    assert (run.folder / "report.html").stat().st_size > 10_000


def test_without_a_cue_there_is_nothing_to_fix(tmp_path: Path, cheat: Path) -> None:
    """The head of a probe on clean images is as good as it gets."""
    clean = Tagged("train", 800, tagged=False)
    frozen = load_frozen(cheat)
    features = compute_features(frozen.features, clean, workers=1)
    head = probe_head(features, len(clean.classes or ()), seed=0)
    model = frozen.with_head(head, clean.classes or (), "honest")
    tests = Tagged("val", 400, tagged=False), Tagged("test", 200, tagged=False)
    run = fix(model, tests[0], tmp_path / "fixed", test=tests[1], only=("confidence",))
    assert run.outcome.word in ("nothing to fix", "costs more than it brings")
    if run.outcome.word == "nothing to fix":
        assert "nothing to fix" in run.outcome.sentence()
        assert not (run.folder / "encoder.safetensors").exists()


def test_an_empty_list_of_carriers_is_nothing_to_fix(
    cheat: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = tmp_path / "carriers.csv"
    listed.write_text("image,group,x0,y0,x1,y1\n")
    with pytest.raises(SystemExit) as stopped:
        main(["fix", str(cheat), "--data", "shapes@val", "--groups", str(listed)])
    assert stopped.value.code == 0
    assert "lists no image, so there is nothing to fix" in " ".join(capsys.readouterr().out.split())


def test_components_are_subtracted_without_a_fit(cheat: Path, tmp_path: Path) -> None:
    refit, test = Tagged("val", 300), Tagged("test", 100)
    name = (test.classes or ())[TAGGED_CLASS]
    run = fix(
        cheat, refit, tmp_path / "out", components=[f"{name}:1"], test=test, only=("confidence",)
    )
    assert f"{name}:1" in run.outcome.description
    with pytest.raises(UsageError, match=r"not a component.*such as dog:2"):
        fix(cheat, refit, tmp_path / "out", components=["x"], test=test)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "balanced"], "needs --groups"),
        (["--method", "balance"], "balanced"),
        (["--components", "dog:1"], "dog"),
        (["--only", "transplants"], "did you mean 'transplant'"),
        (["--on", "shapes@val"], "cannot be used both"),
        (["--groups", "missing.csv"], "cannot be read"),
    ],
)
def test_a_wrong_request_is_one_sentence(
    cheat: Path,
    tmp_path: Path,
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    request = ["fix", str(cheat), "--data", "shapes@val", "--out", str(tmp_path / "fixed")]
    with pytest.raises(SystemExit) as stopped:
        main([*request, *arguments])
    assert stopped.value.code == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "fixed").exists()


def test_a_model_without_weights_is_refused(tmp_path: Path) -> None:
    class Blind:
        def features(self, images: object) -> object:
            return images

    from unshortcut.models.load import from_object

    with pytest.raises(UsageError, match="no weights"):
        fix(from_object(Blind(), "blind"), "shapes@val", tmp_path / "fixed")
