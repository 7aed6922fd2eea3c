"""Exports round-trip: strict loads into timm and torchvision, ONNX through onnxruntime."""

from pathlib import Path

import numpy as np
import pytest
import timm
import torch
import torchvision

from tests.small import TINY, TINY_RECIPE
from unshortcut import pretrain
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.batchnorm import split_batch_norm
from unshortcut.models.card import WEIGHTS_FILE, Card, read_card, save_encoder
from unshortcut.models.encoder import Encoder, EncoderSettings, create_encoder
from unshortcut.models.load import load_model
from unshortcut.training.exporting import Target, export_encoder

IMAGES = torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(0))


def save(settings: EncoderSettings, folder: Path) -> tuple[Encoder, Path]:
    """An encoder as MoCo leaves it: split batch norm, running statistics of its own."""
    encoder = create_encoder(settings, 0)
    split_batch_norm(encoder, 2)
    encoder.train()
    encoder(torch.randn(8, 3, 64, 64))
    encoder.eval()
    card = Card(encoder=settings, preprocessing=Preprocessing(size=64), dim=encoder.dim)
    path = folder / "encoder.safetensors"
    save_encoder(encoder, card, path)
    return encoder, path


def test_timm_loads_it_strictly(tmp_path: Path) -> None:
    encoder, path = save(EncoderSettings(name="resnet18"), tmp_path)
    out = export_encoder(path, "timm")
    model = timm.create_model("resnet18", num_classes=0)
    model.load_state_dict(torch.load(out, weights_only=True), strict=True)
    with torch.no_grad():
        torch.testing.assert_close(model.eval()(IMAGES), encoder(IMAGES), rtol=0, atol=1e-5)


def test_torchvision_loads_it_strictly(tmp_path: Path) -> None:
    encoder, path = save(EncoderSettings(name="resnet50"), tmp_path)
    out = export_encoder(path, "torchvision")
    model = torchvision.models.resnet50()
    model.fc = torch.nn.Identity()
    model.load_state_dict(torch.load(out, weights_only=True), strict=True)
    with torch.no_grad():
        torch.testing.assert_close(model.eval()(IMAGES), encoder(IMAGES), rtol=0, atol=1e-5)


def test_options_that_only_change_initial_weights_are_no_option_of_the_exported_encoder() -> None:
    settings = EncoderSettings(
        name="resnet18", options={"zero_init_last": False, "channels": [8, 16, 32, 64]}
    )
    assert settings.trained().options == {"channels": [8, 16, 32, 64]}
    assert settings.options["zero_init_last"] is False, "the settings themselves stay"


@pytest.mark.parametrize("to", ["timm", "torchvision"])
def test_a_run_of_the_papers_resnet_loads_without_options(tmp_path: Path, to: Target) -> None:
    changes = ["encoder={name: resnet18, options: {zero_init_last: false}}"]
    run = pretrain(TINY_RECIPE, Shapes("train", size=32, count=32), tmp_path / "run", sets=changes)
    assert read_card(run.folder / WEIGHTS_FILE).encoder == EncoderSettings(name="resnet18")
    weights = torch.load(export_encoder(run.folder, to), weights_only=True)
    model: torch.nn.Module = (
        timm.create_model("resnet18", num_classes=0)
        if to == "timm"
        else torchvision.models.resnet18()
    )
    if to == "torchvision":
        model.fc = torch.nn.Identity()
    model.load_state_dict(weights, strict=True)
    expected = load_model(run.folder).features(IMAGES)
    with torch.no_grad():
        torch.testing.assert_close(model.eval()(IMAGES), expected, rtol=1e-4, atol=1e-4)


def test_onnx_agrees_for_any_batch_size(tmp_path: Path) -> None:
    import onnxruntime

    encoder, path = save(TINY, tmp_path)
    out = export_encoder(path, "onnx")
    session = onnxruntime.InferenceSession(str(out), providers=["CPUExecutionProvider"])
    images = torch.randn(5, 3, 64, 64)
    (features,) = session.run(None, {session.get_inputs()[0].name: images.numpy()})
    with torch.no_grad():
        np.testing.assert_allclose(features, encoder(images).numpy(), atol=1e-5)
    loaded = load_model(out)
    assert loaded.preprocessing == load_model(path).preprocessing
    torch.testing.assert_close(loaded.features(images), torch.from_numpy(features))


def test_safetensors_and_card_load_as_a_model(tmp_path: Path) -> None:
    encoder, path = save(TINY, tmp_path)
    out = export_encoder(path, "safetensors", tmp_path / "elsewhere" / "mine.safetensors")
    loaded = load_model(out, size=32)
    assert loaded.preprocessing == Preprocessing(size=32)
    with torch.no_grad():
        torch.testing.assert_close(loaded.features(IMAGES), encoder(IMAGES), rtol=0, atol=1e-5)
    assert loaded.fingerprint == load_model(path).fingerprint


@pytest.mark.parametrize(
    ("settings", "target", "message"),
    [
        (TINY, "torchvision", "differs from torchvision's"),
        (EncoderSettings(name="resnet18", small_stem=True), "torchvision", "small_stem True"),
        (EncoderSettings(name="resnet10t"), "torchvision", "torchvision has no 'resnet10t'"),
        (TINY, "tensorflow", "unknown export target 'tensorflow'"),
    ],
)
def test_what_cannot_be_exported_is_said(
    settings: EncoderSettings, target: str, message: str, tmp_path: Path
) -> None:
    _, path = save(settings, tmp_path)
    with pytest.raises(UsageError, match=message):
        export_encoder(path, target)  # type: ignore[arg-type]
    assert {file.name for file in tmp_path.iterdir()} == {"encoder.safetensors", "encoder.json"}


@pytest.mark.parametrize(
    ("target", "name"),
    [("timm", "a.safetensors"), ("torchvision", "a.onnx"), ("onnx", "a.safetensors")],
)
def test_a_file_is_not_named_like_another_format(target: Target, name: str, tmp_path: Path) -> None:
    _, path = save(EncoderSettings(name="resnet18"), tmp_path)
    with pytest.raises(UsageError, match=f"for --to {target}, got '{name}'"):
        export_encoder(path, target, tmp_path / name)


def test_an_unfinished_run_cannot_be_exported(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no finished run"):
        export_encoder(tmp_path)
