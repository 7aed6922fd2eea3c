"""Dilation in the place of strides, so that a ResNet's last maps are finer with the same weights.

A stage that no longer halves the maps multiplies the dilation of all later 3×3 convolutions by 2;
its first one keeps the dilation before it, since its input has the old spacing. This is how timm
(`output_stride`), torchvision (`replace_stride_with_dilation`) and mmsegmentation
(`contract_dilation`) place it, but they do it when a network is built. Here it is done in place, so
that it is the encoder with its trained weights.
"""

from collections.abc import Iterable

import torch
from timm.layers import AvgPool2dSame
from timm.models.resnet import BasicBlock, Bottleneck, ResNet
from torch import nn

from unshortcut.errors import UsageError


def dilate(model: ResNet, output_stride: int) -> None:
    """Make the last maps of a ResNet those of `output_stride` pixels, in place.

    Strides of the later stages are removed until the stride of the network is at most
    `output_stride`; a network whose stride is not larger remains as it is. Parameters and their
    names stay. Raises `UsageError` for a network with anti-aliased strides.
    """
    net_stride, removed = _stem_stride(model), 1
    for stage in (model.layer1, model.layer2, model.layer3, model.layer4):
        stride = int(stage[0].stride)
        net_stride *= stride
        before = removed
        if net_stride > output_stride * removed:
            removed *= stride
        if removed > 1:
            _dilate_stage(stage, before, removed)


def _dilate_stage(stage: Iterable[BasicBlock | Bottleneck], first: int, others: int) -> None:
    """Let a stage run with stride 1, and multiply the dilation of its 3×3 convolutions."""
    for number, block in enumerate(stage):
        if not isinstance(block.aa, nn.Identity):
            raise UsageError(
                "a ResNet with anti-aliased strides cannot be dilated; set output_stride to 32 to "
                "use its last feature map as it is"
            )
        spatial = [block.conv2] if isinstance(block, Bottleneck) else [block.conv1, block.conv2]
        for place, convolution in enumerate(spatial):
            _dilate_convolution(convolution, first if number == place == 0 else others)
        if block.downsample is not None:
            _dilate_shortcut(block.downsample, first)
        block.stride, block.dilation = 1, block.dilation * others


def _dilate_shortcut(shortcut: nn.Sequential, factor: int) -> None:
    """The shortcut of a stage's first block: average pooling, if there is any, and convolution."""
    if isinstance(shortcut[0], nn.AvgPool2d):
        # As in timm, 2 × 2 cells are still averaged, in windows that overlap now.
        shortcut[0] = AvgPool2dSame(2, 1, ceil_mode=True, count_include_pad=False)
    for module in shortcut:
        if isinstance(module, nn.Conv2d):
            _dilate_convolution(module, factor)


def _dilate_convolution(convolution: nn.Conv2d, factor: int) -> None:
    """Stride 1 and a larger dilation, padded so that maps keep their size."""
    dilation, kernel = convolution.dilation[0] * factor, convolution.kernel_size[0]
    convolution.stride = (1, 1)
    convolution.dilation = (dilation, dilation)
    convolution.padding = (dilation * (kernel - 1) // 2,) * 2


def _stem_stride(model: ResNet) -> int:
    """Pixels per cell before the first stage: 4, or 1 with the stem for small images."""
    side = 64
    weight = next(model.parameters())
    image = torch.zeros(1, 3, side, side, device=weight.device, dtype=weight.dtype)
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        with torch.no_grad():
            maps = model.maxpool(model.act1(model.bn1(model.conv1(image))))
    finally:
        for module, mode in modes.items():
            module.training = mode
    return side // int(maps.shape[-1])
