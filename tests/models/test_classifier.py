"""A classifier beside an encoder: in timm's own place, and back from a file."""

from pathlib import Path

import pytest
import timm
import torch
from safetensors.torch import load_file
from torch import nn

from tests.small import TINY
from unshortcut.errors import UsageError
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.card import Card, load_encoder, save_encoder
from unshortcut.models.encoder import EncoderSettings, create_encoder
from unshortcut.models.load import load_model

IMAGES = torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(0))
CLASSES = ["ant", "bee", "cow"]


def save(settings: EncoderSettings, folder: Path, classes: list[str] = CLASSES) -> Path:
    """An exported encoder with a classifier, both with random weights."""
    encoder = create_encoder(settings, 0)
    torch.manual_seed(1)
    classifier = nn.Linear(encoder.dim, 3)
    size = 224 if "vit" in settings.name or "deit" in settings.name else 64
    card = Card(
        encoder=settings, preprocessing=Preprocessing(size=size), dim=encoder.dim, classes=classes
    )
    path = folder / "encoder.safetensors"
    save_encoder(encoder, card, path, classifier)
    return path


@pytest.mark.parametrize(
    ("name", "weight"),
    [
        ("resnet18", "fc.weight"),
        ("convnext_atto", "head.fc.weight"),
        ("resnetv2_18", "head.fc.weight"),  # a convolution
        ("deit_tiny_distilled_patch16_224", "head_dist.weight"),  # the mean of two classifiers
    ],
)
def test_timm_loads_it_strictly_and_gives_the_same_logits(
    name: str, weight: str, tmp_path: Path
) -> None:
    path = save(EncoderSettings(name=name), tmp_path)
    tensors = load_file(path)
    assert weight in tensors
    model = timm.create_model(name, num_classes=3).eval()
    model.load_state_dict(tensors, strict=True)
    loaded = load_model(path)
    images = torch.randn(2, 3, loaded.preprocessing.size, loaded.preprocessing.size)
    assert loaded.logits is not None and loaded.classes == tuple(CLASSES)
    with torch.no_grad():
        torch.testing.assert_close(loaded.logits(images), model(images), rtol=1e-4, atol=1e-5)
        plain = model.forward_head(model.forward_features(images), pre_logits=True)
    if "distilled" not in name:
        torch.testing.assert_close(loaded.features(images), plain, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "change", [{"branches": 2}, {"color_split": True}, {"hidden_layers": {"count": 2, "width": 4}}]
)
def test_an_encoder_that_timm_does_not_have_keeps_it_as_classifier(
    change: dict[str, object], tmp_path: Path
) -> None:
    path = save(EncoderSettings.model_validate({**TINY.model_dump(), **change}), tmp_path)
    tensors = load_file(path)
    loaded = load_model(path)
    features, logits = loaded.outputs(IMAGES)
    assert logits is not None and logits.shape == (2, 3)
    expected = features @ tensors["classifier.weight"].T + tensors["classifier.bias"]
    torch.testing.assert_close(logits, expected)
    torch.testing.assert_close(features, loaded.features(IMAGES))


def test_the_features_are_those_of_the_encoder_alone(tmp_path: Path) -> None:
    path = save(TINY, tmp_path)
    encoder, card = load_encoder(path)
    loaded = load_model(path)
    with torch.no_grad():
        assert torch.equal(loaded.features(IMAGES), encoder(IMAGES))
    assert card.classes == CLASSES
    assert loaded.feature_maps(IMAGES).shape[:2] == (2, 16)


def test_another_classifier_has_another_fingerprint(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir(), (tmp_path / "two").mkdir()
    one = load_model(save(TINY, tmp_path / "one"))
    path = save(TINY, tmp_path / "two")
    assert load_model(path).fingerprint == one.fingerprint
    encoder, card = load_encoder(path)
    save_encoder(encoder, card, path, nn.Linear(encoder.dim, 3))
    assert load_model(path).fingerprint != one.fingerprint


def test_a_card_with_more_classes_than_the_classifier_is_refused(tmp_path: Path) -> None:
    path = save(TINY, tmp_path, classes=[*CLASSES, "dog"])
    with pytest.raises(UsageError, match=r"does not fit its card: .* of 4 classes: 'fc.weight'"):
        load_model(path)
