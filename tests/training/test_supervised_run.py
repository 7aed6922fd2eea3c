"""A supervised run keeps its classifier: in its folder, in exports, under audit, for `--init`."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
import timm
import torch
import torchvision
from rich.console import Console
from safetensors.torch import load_file

import unshortcut
from tests.small import TINY, TINY_RECIPE
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.models.card import Card, read_card, save_encoder
from unshortcut.models.encoder import EncoderSettings, create_encoder
from unshortcut.models.load import load_model
from unshortcut.recipes.load import load_recipe
from unshortcut.training.checkpoint import load_checkpoint
from unshortcut.training.exporting import export_encoder
from unshortcut.training.pretraining import build_method, pretrain

RECIPE = {
    **TINY_RECIPE,
    "extends": "supervised-shapes",
    "method": {"name": "supervised"},
    "schedule": {"epochs": 1, "warmup_epochs": 0},
}
SOURCE = Shapes("train", size=32, count=64)
IMAGES = torch.randn(3, 3, 24, 24, generator=torch.Generator().manual_seed(0))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pretrain(RECIPE, SOURCE, tmp_path_factory.mktemp("supervised") / "run").folder


def test_the_run_has_the_classifier_of_its_checkpoint_under_timms_name(run: Path) -> None:
    state = load_checkpoint(run / "checkpoint.ckpt")["state_dict"]
    tensors = load_file(run / "encoder.safetensors")
    assert torch.equal(tensors["fc.weight"], state["classifier.weight"])
    options = {key: tuple(value) for key, value in TINY.options.items()}
    model = timm.create_model("resnet18", num_classes=len(SOURCE.classes or ()), **options).eval()
    model.load_state_dict(tensors, strict=True)
    loaded = load_model(run)
    assert loaded.logits is not None and loaded.both is not None
    with torch.no_grad():
        torch.testing.assert_close(loaded.logits(IMAGES), model(IMAGES))
    assert loaded.classes == SOURCE.classes
    torch.testing.assert_close(loaded.both(IMAGES)[0], loaded.features(IMAGES))
    assert loaded.features(IMAGES).shape == (3, 16), "probes and embed use features as before"


def test_exports_to_timm_and_safetensors_include_it(run: Path, tmp_path: Path) -> None:
    timms = torch.load(export_encoder(run, "timm", tmp_path / "timm.pt"), weights_only=True)
    copied = load_model(export_encoder(run, "safetensors", tmp_path / "copy.safetensors"))
    tensors = load_file(run / "encoder.safetensors")
    assert timms.keys() == tensors.keys()
    assert all(torch.equal(timms[name], tensors[name]) for name in tensors)
    assert copied.classes == SOURCE.classes
    assert copied.fingerprint == load_model(run).fingerprint


def test_torchvision_loads_it_with_fc_filled(run: Path, tmp_path: Path) -> None:
    encoder = create_encoder(EncoderSettings(name="resnet18"), 0)
    card = Card(**{**dict(read_card(run / "encoder.safetensors")), "encoder": encoder.settings})
    classifier = torch.nn.Linear(512, len(card.classes or ()))
    save_encoder(encoder, card, tmp_path / "mine.safetensors", classifier)
    out = export_encoder(tmp_path / "mine.safetensors", "torchvision")
    model = torchvision.models.resnet18(num_classes=len(card.classes or ())).eval()
    model.load_state_dict(torch.load(out, weights_only=True), strict=True)
    own = load_model(tmp_path / "mine.safetensors")
    assert own.logits is not None
    with torch.no_grad():
        torch.testing.assert_close(model(IMAGES), own.logits(IMAGES), rtol=1e-4, atol=1e-5)


def test_an_audit_measures_the_models_own_head(run: Path) -> None:
    test = Shapes("val", size=32, count=24)
    report = unshortcut.audit(str(run), test, only=["confidence"], console=Console(quiet=True))
    loaded = load_model(run)
    batch = torch.stack([loaded.transform(test.image(at).pixels()) for at in range(len(test))])
    assert loaded.logits is not None and test.labels is not None
    right = (loaded.logits(batch).argmax(1).numpy() == test.labels).mean()
    ((name, audited),) = report.findings.models.items()
    assert audited.classifier == f"its own head of {len(test.classes or ())} classes"
    assert report.findings.metrics(name)["accuracy"].value == pytest.approx(right)


def said_by(recipe: dict[str, object], init: Path, source: Shapes) -> tuple[Any, str]:
    """The method of a recipe that starts from a run, and what is said about it."""
    console = Console(width=200, file=io.StringIO())
    with console.capture() as capture:
        method = build_method(load_recipe(recipe), init, source, console)
    return method, capture.get()


def test_init_takes_up_the_classifier_for_the_same_classes(run: Path) -> None:
    method, said = said_by(RECIPE, run, SOURCE)
    tensors = load_file(run / "encoder.safetensors")
    assert torch.equal(method.classifier.weight, tensors["fc.weight"])
    assert "the classifier of 'run' is taken up" in said


def test_init_starts_the_classifier_anew_for_other_classes_or_another_order(run: Path) -> None:
    turned = Shapes("train", size=32, count=64)
    turned.classes = tuple(reversed(turned.classes or ()))
    method, said = said_by(RECIPE, run, turned)
    fresh = build_method(load_recipe(RECIPE), None, turned)
    assert torch.equal(method.classifier.weight, fresh.classifier.weight)
    assert "the classifier starts anew, as that of 'run' has other classes" in said
    tensors = load_file(run / "encoder.safetensors")
    assert torch.equal(method.encoder.model.conv1.weight, tensors["conv1.weight"])


def test_init_from_a_file_without_class_names_says_why_the_classifier_starts_anew(
    tmp_path: Path,
) -> None:
    recipe = {
        "method": {"name": "supervised"},
        "encoder": {"name": "resnet18"},
        "views": {"size": 24, "augmentations": []},
    }
    model = timm.create_model("resnet18", num_classes=len(SOURCE.classes or ()))
    torch.save(model.state_dict(), tmp_path / "weights.pth")
    method, said = said_by(recipe, tmp_path / "weights.pth", SOURCE)
    assert torch.equal(method.encoder.model.conv1.weight, model.conv1.weight)
    assert "starts anew, as 'weights.pth' does not name its classes" in said


def test_another_method_uses_the_encoder_alone_and_says_so(run: Path) -> None:
    method, said = said_by(TINY_RECIPE, run, SOURCE)
    tensors = load_file(run / "encoder.safetensors")
    assert torch.equal(method.encoder.model.conv1.weight, tensors["conv1.weight"])
    assert said.strip() == "init: the classifier of 'run' is not used"


def test_a_run_without_a_classifier_writes_what_it_did(tmp_path: Path) -> None:
    out = pretrain(TINY_RECIPE, SOURCE, tmp_path / "run", sets=["schedule.epochs=1"]).folder
    method = build_method(load_recipe(TINY_RECIPE))
    assert load_file(out / "encoder.safetensors").keys() == method.encoder.model.state_dict().keys()
    assert json.loads((out / "encoder.json").read_text())["classes"] is None
    loaded = load_model(out)
    assert loaded.logits is None and loaded.classes is None


def test_onnx_has_features_logits_and_class_names(run: Path, tmp_path: Path) -> None:
    import onnx

    path = export_encoder(run, "onnx", tmp_path / "mine.onnx")
    loaded, own = load_model(path), load_model(run)
    assert loaded.classes == own.classes and loaded.preprocessing == own.preprocessing
    assert own.preprocessing.size == 24
    assert loaded.logits is not None and own.logits is not None
    torch.testing.assert_close(loaded.logits(IMAGES), own.logits(IMAGES), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(loaded.features(IMAGES), own.features(IMAGES), rtol=1e-4, atol=1e-5)
    assert torch.equal(loaded.outputs(IMAGES)[0], loaded.features(IMAGES))
    model = onnx.load(path)
    assert [output.name for output in model.graph.output] == ["features", "logits"]
    onnx.helper.set_model_props(model, {"classes": "cat"})
    onnx.save(model, path)
    with pytest.raises(UsageError, match="is not a JSON list of names"):
        load_model(path)
    onnx.helper.set_model_props(model, {"preprocessing": '{"side": 24}'})
    onnx.save(model, path)
    with pytest.raises(UsageError, match="the metadata 'preprocessing'"):
        load_model(path)
