"""AlexNet as the jigsaw papers have it: layers, features, and a place among timm's models."""

from pathlib import Path

import timm
import torch
from torch.nn import functional as F

from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.card import Card, load_encoder, save_encoder
from unshortcut.models.encoder import EncoderSettings, create_encoder
from unshortcut.models.load import load_model
from unshortcut.training.exporting import export_encoder

SETTINGS = EncoderSettings(name="alexnet_jigsaw")
CONVOLUTIONS = [
    # in, out, kernel, stride, padding, groups
    (3, 96, 11, 2, 0, 1),
    (96, 256, 5, 1, 2, 2),
    (256, 384, 3, 1, 1, 1),
    (384, 384, 3, 1, 1, 2),
    (384, 256, 3, 1, 1, 2),
]


def test_a_tile_of_75_pixels_has_the_2304_features_of_a_plain_transcription() -> None:
    encoder = create_encoder(SETTINGS, seed=0).double().eval()
    weights = list(encoder.parameters())
    assert len(weights) == 10
    tiles = torch.randn(2, 3, 75, 75, dtype=torch.float64)
    x = tiles
    for number, (before, after, kernel, stride, padding, groups) in enumerate(CONVOLUTIONS):
        weight, bias = weights[2 * number], weights[2 * number + 1]
        assert weight.shape == (after, before // groups, kernel, kernel)
        x = F.conv2d(x, weight, bias, stride, padding, groups=groups).relu()
        if number in (0, 1, 4):
            x = F.max_pool2d(x, 3, 2)
        if number < 2:
            padded = F.pad(x**2, (0, 0, 0, 0, 2, 2))
            squares = torch.stack([padded[:, c : c + 5].sum(1) for c in range(after)], dim=1)
            x = x / (1 + 1e-4 / 5 * squares) ** 0.75
    assert x.shape == (2, 256, 3, 3)
    torch.testing.assert_close(encoder(tiles), x.flatten(1))
    torch.testing.assert_close(encoder.feature_maps(tiles), x)
    assert encoder.dim == 2304


def test_whole_images_have_as_many_features() -> None:
    encoder = create_encoder(SETTINGS, seed=0).eval()
    maps = encoder.feature_maps(torch.randn(1, 3, 227, 227))
    assert maps.shape == (1, 256, 12, 12)
    assert encoder(torch.randn(1, 3, 227, 227)).shape == (1, 2304)
    expected = maps.unflatten(3, (3, 4)).unflatten(2, (3, 4)).mean(dim=(3, 5)).flatten(1)
    head = encoder.model.forward_head(maps, pre_logits=True)  # type: ignore[operator]
    torch.testing.assert_close(head, expected)


def test_it_is_exported_and_loaded_like_every_other_encoder(tmp_path: Path) -> None:
    encoder = create_encoder(SETTINGS, seed=0).eval()
    card = Card(encoder=SETTINGS, preprocessing=Preprocessing(size=75), dim=encoder.dim)
    weights = tmp_path / "encoder.safetensors"
    save_encoder(encoder, card, weights)
    images = torch.randn(2, 3, 75, 75)
    expected = encoder(images)
    loaded, _ = load_encoder(weights)
    torch.testing.assert_close(loaded.eval()(images), expected)
    torch.testing.assert_close(load_model(weights).features(images), expected)
    state = torch.load(export_encoder(weights, "timm"), weights_only=True)
    model = timm.create_model("alexnet_jigsaw", num_classes=0).eval()
    model.load_state_dict(state)
    torch.testing.assert_close(model(images), expected)
    assert load_model("timm:alexnet_jigsaw@random").features(images).shape == (2, 2304)
