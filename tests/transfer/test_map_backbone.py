"""Backbones of segmenters: which maps they give, for which encoders, with timm's weights."""

import pytest
import timm
import torch
from torch import Tensor

from tests.small import TINY
from unshortcut.errors import UsageError
from unshortcut.models.encoder import Encoder, EncoderSettings, create_encoder
from unshortcut.transfer.networks.map_backbone import MapShape, backbone, prepare_backbone

VIT = EncoderSettings(
    name="vit_tiny_patch16_224",
    options={"depth": 6, "embed_dim": 24, "num_heads": 2, "patch_size": 8, "img_size": 32},
)
CONVNEXT = EncoderSettings(
    name="convnext_atto", options={"depths": [1, 1, 1, 1], "dims": [8, 8, 16, 24]}
)


def images(height: int, width: int) -> Tensor:
    return torch.randn(2, 3, height, width, generator=torch.Generator().manual_seed(1))


def test_a_resnet_gives_its_last_two_stages_at_stride_8() -> None:
    encoder = create_encoder(TINY, seed=0).eval()
    assert prepare_backbone(encoder) == MapShape(out=16, aux=16, stride=8)
    maps = backbone(encoder.model)(images(32, 48))
    layer3, layer4 = encoder.model.forward_intermediates(  # type: ignore[operator]
        images(32, 48), indices=2, intermediates_only=True
    )
    assert layer4.shape == (2, 16, 4, 6)
    assert torch.equal(maps["aux"], layer3) and torch.equal(maps["out"], layer4)


@pytest.mark.parametrize(("stride", "side"), [(16, 4), (32, 2)])
def test_another_stride_can_be_stated(stride: int, side: int) -> None:
    encoder = create_encoder(TINY, seed=0)
    assert prepare_backbone(encoder, stride).stride == stride
    assert backbone(encoder.model)(images(64, 64))["out"].shape[2:] == (side, side)


@pytest.mark.parametrize("settings", [TINY, VIT, CONVNEXT])
def test_exactly_the_parameters_that_maps_depend_on_are_trained(settings: EncoderSettings) -> None:
    options = {"global_pool": "avg"} if settings is VIT else {}
    encoder = Encoder(settings.model_copy(update={"options": {**settings.options, **options}}))
    prepare_backbone(encoder)
    maps = backbone(encoder.model)(images(32, 32))
    (maps["out"].sum() + maps["aux"].sum()).backward()
    for name, parameter in encoder.model.named_parameters():
        assert (parameter.grad is not None) == parameter.requires_grad, name


def test_the_backbone_is_made_of_the_encoders_own_parameters() -> None:
    for settings in (TINY, VIT, CONVNEXT):
        encoder = Encoder(settings)
        prepare_backbone(encoder)
        own = {id(parameter) for parameter in encoder.parameters()}
        assert {id(parameter) for parameter in backbone(encoder.model).parameters()} <= own


def test_a_vit_takes_images_of_any_size_as_timm_builds_it_with_that_option() -> None:
    encoder = create_encoder(VIT, seed=0).eval()
    assert prepare_backbone(encoder) == MapShape(out=24, aux=24, stride=8)
    peer = timm.create_model(VIT.name, num_classes=0, dynamic_img_size=True, **VIT.options).eval()
    peer.load_state_dict(encoder.model.state_dict())
    maps = backbone(encoder.model)(images(40, 24))
    tokens = peer.forward_features(images(40, 24))[:, 1:]
    torch.testing.assert_close(maps["out"], tokens.transpose(1, 2).unflatten(2, (5, 3)))
    assert maps["aux"].shape == maps["out"].shape
    fourth = peer.forward_intermediates(
        images(40, 24), indices=[3], norm=True, intermediates_only=True
    )[0]
    torch.testing.assert_close(maps["aux"], fourth)


def test_images_that_are_not_whole_patches_are_resized_to_whole_ones() -> None:
    encoder = create_encoder(VIT, seed=0).eval()
    prepare_backbone(encoder)
    maps = backbone(encoder.model)
    given = images(37, 3)
    resized = torch.nn.functional.interpolate(given, (40, 8), mode="bilinear")
    assert torch.equal(maps(given)["out"], maps(resized)["out"])


def test_other_networks_keep_their_stride() -> None:
    encoder = create_encoder(CONVNEXT, seed=0).eval()
    assert prepare_backbone(encoder) == MapShape(out=24, aux=16, stride=32)
    assert backbone(encoder.model)(images(64, 96))["aux"].shape == (2, 16, 4, 6)
    assert prepare_backbone(encoder, 32).stride == 32
    with pytest.raises(UsageError, match="output stride of 32, which cannot be changed to 8"):
        prepare_backbone(encoder, 8)


@pytest.mark.parametrize(
    "settings",
    [
        EncoderSettings(name="alexnet_jigsaw"),
        TINY.model_copy(update={"branches": 2}),
        EncoderSettings(name="swin_tiny_patch4_window7_224", options={"embed_dim": 12}),
    ],
    ids=["alexnet", "branches", "swin"],
)
def test_an_encoder_without_maps_of_all_images_is_refused(settings: EncoderSettings) -> None:
    with pytest.raises(UsageError, match="choose a ResNet, a ViT"):
        prepare_backbone(Encoder(settings))


def test_the_trial_leaves_no_trace() -> None:
    encoder = create_encoder(TINY, seed=0)
    before = {key: value.clone() for key, value in encoder.state_dict().items()}
    prepare_backbone(encoder)
    assert encoder.model.training
    assert all(torch.equal(value, before[key]) for key, value in encoder.state_dict().items())
