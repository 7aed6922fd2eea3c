"""Feature maps of all kinds of encoders, beside timm's own, and encoders that have none."""

from typing import Any

import pytest
import torch
from torch import Tensor

from tests.small import TINY, PlainEncoder
from unshortcut.errors import UsageError
from unshortcut.models.encoder import Encoder, EncoderSettings, create_encoder
from unshortcut.models.feature_maps import features_and_map, map_channels

VIT = {"img_size": 24, "patch_size": 8, "embed_dim": 24, "depth": 2, "num_heads": 2}
SWIN = {"img_size": 32, "embed_dim": 8, "depths": [1, 1], "num_heads": [1, 1], "window_size": 4}
ENCODERS = {
    "resnet": TINY,
    "vit": EncoderSettings(name="vit_tiny_patch16_224", options=VIT),
    "vit with registers": EncoderSettings(
        name="vit_tiny_patch16_224", options={**VIT, "reg_tokens": 4}
    ),
    "vit that pools all patches": EncoderSettings(
        name="vit_tiny_patch16_224", options={**VIT, "class_token": False, "global_pool": "avg"}
    ),
    "swin": EncoderSettings(name="swin_tiny_patch4_window7_224", options=SWIN),
}


def images(encoder: Encoder, height: int | None = None) -> Tensor:
    side = {"swin_tiny_patch4_window7_224": 32, "resnet18": 64}.get(encoder.settings.name, 24)
    generator = torch.Generator().manual_seed(0)
    return torch.randn(2, 3, height or side, side, generator=generator)


@pytest.mark.parametrize("name", ENCODERS)
def test_features_are_those_of_the_encoder_and_the_map_is_timms(name: str) -> None:
    encoder = create_encoder(ENCODERS[name], seed=0).eval()
    batch = images(encoder)
    features, maps = features_and_map(encoder, batch)
    torch.testing.assert_close(features, encoder(batch))
    model: Any = encoder.model
    norm = {} if name == "resnet" else {"norm": True}
    (expected,) = model.forward_intermediates(batch, 1, intermediates_only=True, **norm)
    torch.testing.assert_close(maps, expected)
    assert map_channels(encoder) == maps.shape[1]


def test_the_cells_of_a_wide_image_are_in_rows() -> None:
    options = {**VIT, "dynamic_img_size": True}
    encoder = create_encoder(EncoderSettings(name="vit_tiny_patch16_224", options=options), 0)
    encoder.eval()
    batch = images(encoder, height=16)
    model: Any = encoder.model
    (expected,) = model.forward_intermediates(batch, 1, intermediates_only=True, norm=True)
    maps = features_and_map(encoder, batch)[1]
    assert maps.shape == (2, 24, 2, 3)
    torch.testing.assert_close(maps, expected)


def test_a_class_token_that_timm_does_not_count_is_left_out() -> None:
    options = {"img_size": 24, "patch_size": 8, "embed_dim": 24, "depth": 1, "num_heads": 2}
    encoder = create_encoder(EncoderSettings(name="cait_xxs24_224", options=options), 0).eval()
    batch = images(encoder)
    tokens = encoder.feature_maps(batch)
    assert tokens.shape == (2, 10, 24) and not hasattr(encoder.model, "num_prefix_tokens")
    maps = features_and_map(encoder, batch)[1]
    assert maps.shape == (2, 24, 3, 3)
    torch.testing.assert_close(maps[:, :, 1, 2], tokens[:, 6])


def test_the_network_runs_once_for_both() -> None:
    encoder = create_encoder(TINY, seed=0)
    calls: list[int] = []
    encoder.model.conv1.register_forward_pre_hook(lambda *_: calls.append(1))
    features_and_map(encoder, images(encoder))
    assert len(calls) == 1


def test_looking_for_the_map_leaves_no_trace() -> None:
    encoder = create_encoder(TINY, seed=0)
    before = {name: value.clone() for name, value in encoder.state_dict().items()}
    assert map_channels(encoder) == 16
    assert encoder.model.training
    assert all(torch.equal(before[name], value) for name, value in encoder.state_dict().items())


@pytest.mark.parametrize(
    "settings",
    [
        EncoderSettings(name="pit_ti_224"),  # ends in its class token
        EncoderSettings(name="crossvit_tiny_240"),  # two sizes of tokens in a list
    ],
)
def test_an_encoder_without_a_map_is_refused_by_name(settings: EncoderSettings) -> None:
    with pytest.raises(UsageError, match=f"encoder '{settings.name}' has no feature map"):
        map_channels(create_encoder(settings, seed=0))


def test_a_network_without_the_parts_of_a_timm_model_is_refused() -> None:
    with pytest.raises(UsageError, match="has no feature map"):
        map_channels(PlainEncoder())


@pytest.mark.parametrize(
    "change", [{"color_split": True}, {"branches": 2}, {"hidden_layers": {"width": 4}}]
)
def test_combinations_of_networks_are_refused(change: dict[str, Any]) -> None:
    settings = EncoderSettings.model_validate({**TINY.model_dump(), **change})
    with pytest.raises(UsageError, match=next(iter(change))):
        map_channels(create_encoder(settings, seed=0))
