"""Two networks as one encoder: each sees its channels, and the whole is exported like any other."""

from pathlib import Path

import pytest
import torch

from tests.small import TINY
from unshortcut.errors import UsageError
from unshortcut.imaging.lab import scaled_lab
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.card import Card, save_encoder
from unshortcut.models.color_split import ColorSplit
from unshortcut.models.encoder import Encoder, create_encoder
from unshortcut.models.load import load_model
from unshortcut.training.exporting import export_encoder

SPLIT = TINY.model_copy(update={"color_split": True})
MEAN, STD = (0.5, 0.4, 0.3), (0.25, 0.2, 0.3)


def build() -> tuple[Encoder, ColorSplit]:
    encoder = create_encoder(SPLIT, seed=0).eval()
    assert isinstance(encoder.model, ColorSplit)
    encoder.model.set_normalization(MEAN, STD)
    return encoder, encoder.model


def normalize(images: torch.Tensor) -> torch.Tensor:
    return (images - torch.tensor(MEAN).view(1, 3, 1, 1)) / torch.tensor(STD).view(1, 3, 1, 1)


def test_one_network_sees_lightness_and_one_sees_color() -> None:
    encoder, split = build()
    images = torch.rand(2, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    lab = scaled_lab(images)
    with torch.no_grad():
        features = encoder(normalize(images))
        expected = torch.cat([split.lightness(lab[:, :1]), split.color(lab[:, 1:])], dim=1)
        gray = encoder(normalize(images.mean(1, keepdim=True).expand(-1, 3, -1, -1)))
    assert features.shape == (2, encoder.dim) == (2, 32)
    torch.testing.assert_close(features, expected)
    color = slice(encoder.dim // 2, None)
    torch.testing.assert_close(gray[0, color], gray[1, color])  # no color, no difference
    assert not torch.allclose(gray[0], gray[1])


def test_the_map_before_pooling_has_the_channels_of_both() -> None:
    encoder, _ = build()
    images = torch.randn(2, 3, 64, 64)
    with torch.no_grad():
        features = encoder.feature_maps(images)
        torch.testing.assert_close(features.mean(dim=(2, 3)), encoder(images))


def test_a_small_stem_keeps_the_channels() -> None:
    split = create_encoder(SPLIT.model_copy(update={"small_stem": True}), seed=0).model
    assert isinstance(split, ColorSplit)
    widths = [part.conv1.weight.shape[1:] for part in (split.lightness, split.color)]  # type: ignore[union-attr]
    assert [tuple(width) for width in widths] == [(1, 3, 3), (2, 3, 3)]


@pytest.fixture
def saved(tmp_path: Path) -> tuple[Encoder, Path]:
    encoder, _ = build()
    preprocessing = Preprocessing(size=32, mean=MEAN, std=STD)
    card = Card(encoder=SPLIT, preprocessing=preprocessing, dim=encoder.dim)
    path = tmp_path / "encoder.safetensors"
    save_encoder(encoder, card, path)
    return encoder, path


@pytest.mark.parametrize("target", ["safetensors", "onnx"])
def test_it_is_exported_whole(target: str, saved: tuple[Encoder, Path]) -> None:
    encoder, path = saved
    loaded = load_model(export_encoder(path, target))  # type: ignore[arg-type]
    images = normalize(torch.rand(3, 3, 32, 32))
    with torch.no_grad():
        torch.testing.assert_close(loaded.features(images), encoder(images), rtol=0, atol=1e-4)


@pytest.mark.parametrize("target", ["timm", "torchvision"])
def test_libraries_of_single_networks_cannot_have_it(
    target: str, saved: tuple[Encoder, Path]
) -> None:
    with pytest.raises(UsageError, match=f"{target} has no model for"):
        export_encoder(saved[1], target)  # type: ignore[arg-type]
