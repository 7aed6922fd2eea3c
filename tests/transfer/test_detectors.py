"""Detectors on encoders: beside torchvision's own builder, and for every kind of encoder."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torchvision.models.detection import FasterRCNN
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.backbone_utils import BackboneWithFPN
from torchvision.models.detection.faster_rcnn import FastRCNNPredictor, TwoMLPHead
from torchvision.models.resnet import BasicBlock, ResNet

from tests.small import TINY
from unshortcut.errors import UsageError
from unshortcut.models.encoder import Encoder, EncoderSettings
from unshortcut.models.module_encoder import ModuleEncoder
from unshortcut.transfer.networks.c4 import C4Head
from unshortcut.transfer.networks.detector import (
    RATIOS,
    DetectorSettings,
    build_detector,
    from_scratch,
    scaled_anchors,
)

SIZE = 64
VIT = EncoderSettings(
    name="vit_tiny_patch16_224",
    options={"embed_dim": 24, "depth": 2, "num_heads": 2, "img_size": 32},
)
BOTTLENECKS = EncoderSettings(
    name="resnet26d", options={"layers": [1, 1, 1, 1], "channels": [4, 4, 8, 8], "stem_width": 4}
)
SMALL_STEM = EncoderSettings(
    name="resnet18",
    options={"layers": [1, 1, 1, 1], "channels": [16, 16, 16, 16]},
    small_stem=True,
)
STAGES = EncoderSettings(
    name="convnext_atto", options={"depths": [1, 1, 1, 1], "dims": [4, 8, 8, 8]}
)


def images() -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [torch.rand(3, *size, generator=generator) for size in ((50, 70), (SIZE, SIZE))]


def small(network: str, **changes: Any) -> DetectorSettings:
    return DetectorSettings(network=network, channels=8, hidden=16, region_samples=64, **changes)  # type: ignore[arg-type]


def test_the_pyramid_equals_torchvisions_builder_with_equal_weights() -> None:
    torch.manual_seed(0)
    layers = [1, 1, 1, 1]
    encoder = Encoder(EncoderSettings(name="resnet18", options={"layers": layers}))
    ours = build_detector(encoder, 3, small("fpn", score_threshold=0.0), size=SIZE).eval()
    stages = {f"layer{stage + 1}": str(stage) for stage in range(4)}
    backbone = BackboneWithFPN(ResNet(BasicBlock, layers), stages, [64, 128, 256, 512], 8)
    sides = scaled_anchors(SIZE)
    theirs = FasterRCNN(
        backbone,
        min_size=SIZE,
        max_size=round(SIZE * 5 / 3),
        rpn_anchor_generator=AnchorGenerator(tuple((side,) for side in sides), (RATIOS,) * 5),
        box_head=TwoMLPHead(8 * 7**2, 16),
        box_predictor=FastRCNNPredictor(16, 4),
        box_score_thresh=0.0,
    ).eval()
    theirs.roi_heads.box_roi_pool.canonical_scale = round(224 * sides[2] / 128)
    theirs.load_state_dict(ours.state_dict())  # the same names, too
    with torch.no_grad():
        for found, expected in zip(ours(images()), theirs(images()), strict=True):
            assert len(found["boxes"]) == 100
            assert torch.equal(found["labels"], expected["labels"])
            torch.testing.assert_close(found["boxes"], expected["boxes"], rtol=0, atol=1e-4)
            torch.testing.assert_close(found["scores"], expected["scores"], rtol=0, atol=1e-6)


def test_anchors_are_torchvisions_at_its_own_size_and_smaller_below() -> None:
    assert scaled_anchors(800) == (32, 64, 128, 256, 512)
    assert scaled_anchors(200) == (16, 32, 64, 128, 256)


@pytest.mark.parametrize(
    ("encoder", "network", "strides"),
    [
        (TINY, "c4", [16]),
        (BOTTLENECKS, "c4", [16]),
        (SMALL_STEM, "c4", [4]),
        (TINY, "fpn", [4, 8, 16, 32]),
        (SMALL_STEM, "fpn", [1, 2, 4, 8]),
        (STAGES, "fpn", [4, 8, 16, 32]),
        (VIT, "fpn", [4, 8, 16, 32]),
    ],
)
def test_every_trained_parameter_has_a_gradient(
    encoder: EncoderSettings, network: str, strides: list[int]
) -> None:
    torch.manual_seed(0)
    built = Encoder(encoder)
    detector = build_detector(built, 3, small(network), size=SIZE)
    assert [round(1 / scale) for scale in detector.roi_heads.box_roi_pool.scales] == strides
    nothing = {"boxes": torch.zeros(0, 4), "labels": torch.zeros(0, dtype=torch.long)}
    one = {"boxes": torch.tensor([[5.0, 5.0, 30.0, 40.0]]), "labels": torch.tensor([1])}
    losses = detector(images(), [one, nothing])
    torch.stack(list(losses.values())).sum().backward()
    for name, parameter in detector.named_parameters():
        assert (parameter.grad is not None) == parameter.requires_grad, name
    new = {id(parameter) for parameter in from_scratch(detector).parameters()}
    own = {id(parameter) for parameter in built.model.parameters()}
    everything = {id(parameter) for parameter in detector.parameters()}
    assert not new & own
    assert new | own == everything


def test_c4_is_the_last_stage_with_an_extra_batch_norm() -> None:
    encoder = Encoder(TINY)
    detector = build_detector(encoder, 3, small("c4"), size=SIZE).eval()
    head = detector.roi_heads.box_head
    assert isinstance(head, C4Head)
    assert len(detector.rpn.anchor_generator.cell_anchors[0]) == 15
    maps = torch.randn(4, 16, 14, 14)
    expected = encoder.model.layer4(maps)  # type: ignore[operator]
    norm = nn.BatchNorm2d(16).eval()
    torch.testing.assert_close(head(maps), norm(expected).mean((2, 3)))
    with torch.no_grad():
        x = torch.randn(2, 3, 64, 64)
        third = detector.backbone(x)["0"]
        whole = encoder.model.layer4(third).mean((2, 3))  # type: ignore[operator]
        torch.testing.assert_close(whole, encoder(x))


def test_a_vit_gives_the_same_features_at_its_size_and_maps_at_others() -> None:
    torch.manual_seed(0)
    encoder = Encoder(VIT).eval()
    x = torch.randn(2, 3, 32, 32)
    before = encoder(x)
    detector = build_detector(encoder, 3, small("fpn"), size=SIZE)
    assert torch.equal(encoder(x), before)
    shapes = {name: tuple(one.shape[2:]) for name, one in detector.backbone(images_of(96)).items()}
    assert shapes == {"0": (24, 24), "1": (12, 12), "2": (6, 6), "3": (3, 3), "pool": (2, 2)}


def images_of(side: int) -> Tensor:
    return torch.zeros(1, 3, side, side)


def test_padding_does_not_change_how_regions_are_pooled() -> None:
    """torchvision takes a stride of 16 for 8 if its first image has 40 of 64 pixels."""
    detector = build_detector(Encoder(TINY), 3, small("c4"), size=40).eval()
    detector([torch.rand(3, 40, 40)])
    assert detector.roi_heads.box_roi_pool.scales == [1 / 16]


@pytest.mark.parametrize(
    ("encoder", "network", "message"),
    [
        (VIT, "c4", "needs a ResNet of timm, not 'vit_tiny_patch16_224'; choose 'fpn'"),
        (EncoderSettings(name="alexnet_jigsaw"), "fpn", "'alexnet_jigsaw' has no stages"),
        (TINY.model_copy(update={"branches": 2}), "fpn", "encoder.branches"),
        (
            EncoderSettings(name="swin_tiny_patch4_window7_224", options={"depths": [1, 1, 1, 1]}),
            "fpn",
            "does not take images of other sizes",
        ),
        (
            VIT.model_copy(update={"options": {**VIT.options, "patch_size": 14, "img_size": 28}}),
            "fpn",
            "patches of 14 × 14 pixels",
        ),
    ],
)
def test_an_encoder_without_maps_is_an_error(
    encoder: EncoderSettings, network: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        build_detector(Encoder(encoder), 3, small(network), size=SIZE)


def test_another_module_is_an_error() -> None:
    module = nn.Sequential(nn.Flatten(), nn.Linear(3 * 8 * 8, 4))
    with pytest.raises(UsageError, match="needs an encoder of timm"):
        build_detector(ModuleEncoder(module, module, 8), 3, small("fpn"))
