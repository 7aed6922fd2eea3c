"""Strides become dilation in place: the networks of timm and torchvision with equal weights."""

from typing import Any

import pytest
import timm
import torch
from torch import Tensor, nn
from torchvision.models.resnet import Bottleneck, ResNet

from unshortcut.errors import UsageError
from unshortcut.models.encoder import Encoder, EncoderSettings
from unshortcut.transfer.networks.dilation import dilate

SMALL = {"layers": (1, 2, 2, 2), "channels": (4, 8, 12, 16), "zero_init_last": False}
DEEP_STEM = {"stem_type": "deep", "stem_width": 8}
IMAGES = torch.randn(2, 3, 72, 40, generator=torch.Generator().manual_seed(0))


def maps(model: nn.Module) -> Tensor:
    model.eval()
    with torch.no_grad():
        found: Tensor = model.forward_features(IMAGES)  # type: ignore[operator]
    return found


@pytest.mark.parametrize("stride", [8, 16])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("resnet18", SMALL),
        ("resnet18", {**SMALL, **DEEP_STEM}),
        ("resnet50", SMALL),
        ("resnet50d", SMALL),
        ("resnet50", {**SMALL, "down_kernel_size": 3}),
    ],
)
def test_a_dilated_encoder_equals_the_network_that_timm_builds(
    name: str, options: dict[str, Any], stride: int
) -> None:
    torch.manual_seed(0)
    encoder = Encoder(EncoderSettings(name=name, options=options))
    before = maps(encoder.model)
    weights = {key: value.clone() for key, value in encoder.model.state_dict().items()}
    dilate(encoder.model, stride)
    peer = timm.create_model(name, num_classes=0, output_stride=stride, **options)
    peer.load_state_dict(encoder.model.state_dict())
    found = maps(encoder.model)
    assert found.shape[2:] == (72 // stride + (72 % stride > 0), 40 // stride + (40 % stride > 0))
    assert found.shape != before.shape
    torch.testing.assert_close(found, maps(peer))
    assert all(
        torch.equal(value, weights[key]) for key, value in encoder.model.state_dict().items()
    )


def test_a_dilated_bottleneck_resnet_equals_torchvisions() -> None:
    layers = [1, 1, 2, 2]
    peer = ResNet(Bottleneck, layers, replace_stride_with_dilation=[False, True, True]).eval()
    model = timm.create_model("resnet50", layers=layers).eval()
    model.load_state_dict(peer.state_dict())
    dilate(model, 8)
    trunk = nn.Sequential(*list(peer.children())[:-2])
    image = IMAGES[:1, :, :32, :32]
    with torch.no_grad():
        torch.testing.assert_close(model.forward_features(image), trunk(image))


def test_dilating_further_equals_dilating_at_once() -> None:
    torch.manual_seed(0)
    gradual, once = (timm.create_model("resnet18", **SMALL) for _ in range(2))
    once.load_state_dict(gradual.state_dict())
    dilate(gradual, 16)
    dilate(gradual, 8)
    dilate(once, 8)
    torch.testing.assert_close(maps(gradual), maps(once))


def test_a_network_that_is_fine_enough_is_left_as_it_is() -> None:
    encoder = Encoder(EncoderSettings(name="resnet18", options=SMALL, small_stem=True))
    before = maps(encoder.model)
    assert before.shape[2:] == (9, 5)
    dilate(encoder.model, 8)
    assert torch.equal(maps(encoder.model), before)
    dilate(encoder.model, 4)
    assert maps(encoder.model).shape[2:] == (18, 10)


def test_batch_norm_and_its_mode_are_left_as_they_are() -> None:
    model = timm.create_model("resnet18", **SMALL)
    model.layer1.eval()
    dilate(model, 8)
    assert model.bn1.training and not model.layer1[0].bn1.training
    assert not model.bn1.num_batches_tracked


def test_anti_aliased_strides_cannot_be_dilated() -> None:
    model = timm.create_model("resnetblur18", **SMALL)
    with pytest.raises(UsageError, match="output_stride to 32"):
        dilate(model, 8)
