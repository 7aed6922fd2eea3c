"""The FCN: torchvision's own builder with equal weights, and mmsegmentation's head by formula."""

import timm
import torch
from torch.nn import functional as F
from torchvision.models.segmentation import fcn_resnet50

from tests.small import TINY
from unshortcut.models.encoder import Encoder, EncoderSettings, create_encoder
from unshortcut.transfer.networks.fcn import (
    ConcatenatingHead,
    SegmentationHeads,
    torchvision_head,
)
from unshortcut.transfer.networks.map_backbone import prepare_backbone


def test_it_equals_torchvisions_fcn_resnet50_with_equal_weights() -> None:
    peer = fcn_resnet50(weights=None, weights_backbone=None, num_classes=5, aux_loss=True).eval()
    encoder = Encoder(EncoderSettings(name="resnet50"))
    shape = prepare_backbone(encoder)
    heads = SegmentationHeads(
        torchvision_head(shape.out, 5, dropout=0.1), torchvision_head(shape.aux, 5, dropout=0.1)
    )
    network = heads.on(encoder).eval()
    network.load_state_dict(peer.state_dict())
    images = torch.randn(1, 3, 40, 32, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        found, expected = network(images), peer(images)
    assert found.keys() == expected.keys() == {"out", "aux"}
    for name in found:
        assert found[name].shape == (1, 5, 40, 32)
        torch.testing.assert_close(found[name], expected[name], rtol=1e-4, atol=1e-5)


def test_the_concatenating_head_is_three_convolutions_and_a_classifier() -> None:
    torch.manual_seed(0)
    head = ConcatenatingHead(6, 4, classes=3, dropout=0.1).double().eval()
    weights = head.state_dict()
    maps = torch.randn(2, 6, 5, 5, dtype=torch.float64)

    def layer(inputs: torch.Tensor, name: str) -> torch.Tensor:
        convolved = F.conv2d(inputs, weights[f"{name}.0.weight"], padding=1)
        return (convolved / (1 + 1e-5) ** 0.5).clamp(min=0)  # batch norm as it is initialized

    inner = layer(layer(maps, "convs.0"), "convs.1")
    merged = layer(torch.cat([maps, inner], dim=1), "merge")
    expected = F.conv2d(merged, weights["classifier.weight"], weights["classifier.bias"])
    torch.testing.assert_close(head(maps), expected)


def test_dropout_is_the_stated_one() -> None:
    assert torchvision_head(8, 2, dropout=0.3)[3].p == 0.3
    assert ConcatenatingHead(8, 4, 2, dropout=0.3).dropout.p == 0.3


def test_training_the_network_trains_the_encoder() -> None:
    encoder = create_encoder(TINY, seed=0)
    shape = prepare_backbone(encoder)
    head = ConcatenatingHead(shape.out, 8, 2, dropout=0.0)
    network = SegmentationHeads(head, None).on(encoder)
    network(torch.randn(2, 3, 16, 16))["out"][:, 0].mean().backward()
    assert all(parameter.grad is not None for parameter in encoder.model.parameters())
    loaded = timm.create_model(TINY.name, num_classes=0, **TINY.options)
    loaded.load_state_dict(encoder.model.state_dict())
