"""Faster R-CNN of torchvision on an encoder, with a C4 head or a feature pyramid."""

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torchvision.models.detection import FasterRCNN
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.faster_rcnn import FastRCNNPredictor, TwoMLPHead
from torchvision.ops import MultiScaleRoIAlign

from unshortcut.errors import UsageError
from unshortcut.fields import PositiveInt, PositiveNumber, Probability
from unshortcut.inference.preprocessing import IMAGENET_MEAN, IMAGENET_STD
from unshortcut.models.encoder import Encoder
from unshortcut.models.module_encoder import ModuleEncoder
from unshortcut.parts import settings
from unshortcut.transfer.networks.aliases import name_once
from unshortcut.transfer.networks.c4 import C4Head, C4Trunk
from unshortcut.transfer.networks.pyramid import pyramid

RATIOS = (0.5, 1.0, 2.0)
"""Height divided by width of the anchors."""
USUAL_SIZE, USUAL_ANCHORS = 800, (32.0, 64.0, 128.0, 256.0, 512.0)
"""The shorter side of images in torchvision and Detectron2, and the anchors made for it."""
_LONGER = 5 / 3


@settings
class DetectorSettings:
    """The network of a detector; numbers of torchvision unless stated."""

    network: Literal["c4", "fpn"] = "fpn"
    """`c4`: the last stage of a ResNet on every region, with an extra batch norm, as in MoCo's
    tables; its only map has a stride of 16, so objects should be large. `fpn`: a feature pyramid,
    which of a ViT is the simple one."""
    anchors: Annotated[tuple[PositiveNumber, ...], Field(min_length=5, max_length=5)] | None = None
    """Sides of the anchors in pixels of the network's input: all on one map with `c4`, one on each
    of the five maps with `fpn`. None: those of `scaled_anchors`."""
    channels: PositiveInt = 256
    """Width of the feature pyramid (`fpn`)."""
    hidden: PositiveInt = 1024
    """Width of the two layers on each region (`fpn`)."""
    anchor_samples: PositiveInt = 256
    """Anchors of each image in the loss of the proposals."""
    region_samples: PositiveInt = 512
    """Proposals of each image in the loss of the head."""
    candidates: PositiveInt | None = None
    """Most anchors of a map that go through non-maximum suppression to become proposals. None: in
    training 12000 with `c4` and 2000 with `fpn`, in use half of that."""
    train_proposals: PositiveInt = 2000
    """Most proposals of an image in training."""
    proposals: PositiveInt = 1000
    """Most proposals of an image in use."""
    score_threshold: Probability = 0.05
    """Detections below it are left out."""
    nms: Probability = 0.5
    """Of two detections of a class with a larger IoU, the one with the lower score is left out."""
    detections: PositiveInt = 100
    """Most detections of an image."""


def build_detector(
    encoder: Encoder,
    num_classes: int,
    chosen: DetectorSettings,
    size: int | None = None,
    mean: Sequence[float] = IMAGENET_MEAN,
    std: Sequence[float] = IMAGENET_STD,
) -> FasterRCNN:
    """Faster R-CNN whose trunk consists of the encoder's own modules.

    As a function, it takes images of any size with values from 0 to 1, resizes their shorter side
    to `size` (800 if None) and normalizes them. Class 0 is the background, class i + 1 the i-th.

    Args:
        encoder: a ResNet, another CNN with stages, or a plain ViT of timm.
        num_classes: without the background.
    """
    if isinstance(encoder, ModuleEncoder):
        raise UsageError(
            "detection needs an encoder of timm, whose stages are known; this model is another "
            "module of PyTorch"
        )
    size = USUAL_SIZE if size is None else size
    anchors = chosen.anchors or scaled_anchors(size)
    parts = _c4(encoder, anchors) if chosen.network == "c4" else _fpn(encoder, anchors, chosen)
    candidates = parts.pop("candidates")
    detector = FasterRCNN(
        box_predictor=FastRCNNPredictor(parts.pop("features"), num_classes + 1),
        min_size=size,
        max_size=round(size * _LONGER),
        image_mean=list(mean),
        image_std=list(std),
        size_divisible=parts["backbone"].size_divisible,
        rpn_batch_size_per_image=chosen.anchor_samples,
        rpn_pre_nms_top_n_train=chosen.candidates or candidates,
        rpn_pre_nms_top_n_test=chosen.candidates or candidates // 2,
        rpn_post_nms_top_n_train=chosen.train_proposals,
        rpn_post_nms_top_n_test=chosen.proposals,
        box_batch_size_per_image=chosen.region_samples,
        box_score_thresh=chosen.score_threshold,
        box_nms_thresh=chosen.nms,
        box_detections_per_img=chosen.detections,
        **parts,
    )
    _fix_scales(detector)
    name_once(detector)
    return detector


def scaled_anchors(size: int) -> tuple[float, ...]:
    """Anchors for images with a shorter side of `size` pixels: 32, 64, 128, 256, 512 at 800.

    They go by the square root of the size. Objects fill more of a small image, and anchors in
    proportion to it would lie between the cells of maps whose strides stay the same.
    """
    return tuple(side * math.sqrt(size / USUAL_SIZE) for side in USUAL_ANCHORS)


def from_scratch(detector: FasterRCNN) -> nn.ModuleList:
    """The modules of a detector that are not the encoder's."""
    heads: Any = detector.roi_heads
    head = heads.box_head.norm if isinstance(heads.box_head, C4Head) else heads.box_head
    trunk: Any = detector.backbone
    return nn.ModuleList([*trunk.from_scratch, detector.rpn, head, heads.box_predictor])


def _c4(encoder: Encoder, anchors: Sequence[float]) -> dict[str, Any]:
    trunk, head = C4Trunk(encoder), C4Head(encoder)
    return {
        "backbone": trunk,
        "rpn_anchor_generator": AnchorGenerator((tuple(anchors),), (RATIOS,)),
        "candidates": 12000,  # Detectron2's, for its only map
        "box_roi_pool": MultiScaleRoIAlign(["0"], output_size=14, sampling_ratio=0),
        "box_head": head,
        "features": head.out_channels,
    }


def _fpn(encoder: Encoder, anchors: Sequence[float], chosen: DetectorSettings) -> dict[str, Any]:
    trunk = pyramid(encoder, chosen.channels)
    # A region belongs to the level whose anchors are of its size: 224 pixels to the third level,
    # whose anchor is usually 128.
    canonical = round(224 * anchors[2] / USUAL_ANCHORS[2])
    pool = MultiScaleRoIAlign(
        ["0", "1", "2", "3"], output_size=7, sampling_ratio=2, canonical_scale=max(canonical, 1)
    )
    return {
        "backbone": trunk,
        "rpn_anchor_generator": AnchorGenerator(
            tuple((side,) for side in anchors), (RATIOS,) * len(anchors)
        ),
        "candidates": 2000,
        "box_roi_pool": pool,
        "box_head": TwoMLPHead(chosen.channels * 7**2, chosen.hidden),
        "features": chosen.hidden,
    }


def _fix_scales(detector: FasterRCNN) -> None:
    """Let the region pooling infer the strides of the maps from an image without padding.

    torchvision infers them from the first images that it meets, and wrongly if these are padded by
    much; the result is kept for all later images.
    """
    trunk: Any = detector.backbone
    pool: Any = detector.roi_heads.box_roi_pool
    weight = next(trunk.parameters())
    side = 2 * trunk.size_divisible
    image = torch.zeros(1, 3, side, side, device=weight.device, dtype=weight.dtype)
    training = trunk.training
    trunk.eval()
    with torch.no_grad():
        maps: dict[str, Tensor] = trunk(image)
    trunk.train(training)
    strides = [side / maps[name].shape[-1] for name in pool.featmap_names]
    if any(math.log2(stride) % 1 for stride in strides):
        raise UsageError(
            f"the maps of the encoder have strides of {', '.join(f'{s:g}' for s in strides)} "
            "pixels, but detection needs powers of two"
        )
    pool.canonical_level = int(math.log2(strides[len(strides) // 2]))  # usually 4, of stride 16
    pool(maps, [image.new_tensor([[0, 0, side, side]])], [(side, side)])
