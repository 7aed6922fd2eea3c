"""Models by spec: what each gives, and what a wrong one is answered."""

import json
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from unshortcut.errors import RunError, UsageError
from unshortcut.models.load import load_model

IMAGES = torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(0))


def test_timm_gives_features_logits_and_its_preprocessing() -> None:
    model = load_model("timm:resnet18@random")
    assert model.features(IMAGES).shape == (2, 512)
    assert model.logits is not None and model.logits(IMAGES).shape == (2, 1000)
    assert model.preprocessing.size == 224
    assert not model.features(IMAGES).requires_grad


def test_torchvision_gives_the_input_of_its_classifier() -> None:
    model = load_model("torchvision:resnet18@random")
    features = model.features(IMAGES)
    assert features.shape == (2, 512)
    assert model.module is not None and model.logits is not None
    torch.testing.assert_close(model.module.fc(features), model.logits(IMAGES))


def test_a_function_of_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_models.py").write_text(
        "import torch\n"
        "def net():\n    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.LazyLinear(7))\n"
        "class Own:\n"
        "    classes = ('cat', 'dog')\n"
        "    def features(self, images): return images.mean((2, 3))\n"
        "    def logits(self, images): return images.mean((2, 3))[:, :2]\n"
        "def own():\n    return Own()\n"
        "def nothing():\n    return 3\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "my_models", raising=False)
    own = load_model("my_models:own", size=32, mean=(0.5, 0.5, 0.5))
    assert own.classes == ("cat", "dog")
    assert own.preprocessing.size == 32 and own.preprocessing.mean == (0.5, 0.5, 0.5)
    torch.testing.assert_close(own.features(IMAGES), IMAGES.mean((2, 3)))
    with pytest.raises(UsageError, match=r"of the type int: neither an nn.Module"):
        load_model("my_models:nothing")
    with pytest.raises(UsageError, match="no attribute 'nix'"):
        load_model("my_models:nix")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("timm:resnet_18", "unknown timm model 'resnet_18'; did you mean"),
        ("torchvision:resnet19", "unknown torchvision model 'resnet19'; did you mean 'resnet"),
        ("no_such_module:f", "there is no module 'no_such_module'"),
        ("nonsense", "'nonsense' is not a model: give a run folder"),
        ("missing.onnx", "there is no file 'missing.onnx'"),
        ("missing.safetensors", "there is no file 'missing.safetensors'"),
    ],
)
def test_a_wrong_spec_is_one_sentence(spec: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_model(spec)


def test_weights_that_cannot_be_had_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> nn.Module:
        raise OSError("no network")

    monkeypatch.setattr("timm.create_model", refuse)
    with pytest.raises(RunError, match=r"not be loaded .no network.; 'timm:resnet18@random'"):
        load_model("timm:resnet18")


def test_hostile_and_broken_files_are_refused(tmp_path: Path) -> None:
    weights = tmp_path / "encoder.safetensors"
    weights.write_bytes(b"\x80\x04cos\nsystem\n(S'touch hostile-was-here'\ntR.")
    with pytest.raises(UsageError, match=r"has no card"):
        load_model(weights)
    card = {"encoder": {"name": "resnet18"}, "preprocessing": {}, "dim": 512}
    (tmp_path / "encoder.json").write_text(json.dumps(card))
    with pytest.raises(UsageError, match="not a safetensors file"):
        load_model(tmp_path)
    (tmp_path / "encoder.json").write_text(json.dumps({**card, "classifier": "x"}))
    with pytest.raises(UsageError, match="unknown key 'classifier'"):
        load_model(tmp_path)
    (tmp_path / "bad.onnx").write_bytes(b"nonsense")
    with pytest.raises(UsageError, match="is not an ONNX model"):
        load_model(tmp_path / "bad.onnx")
