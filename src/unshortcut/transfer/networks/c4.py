"""The C4 trunk and head of Faster R-CNN: a ResNet up to its third stage, and its last stage.

As in MoCo's detection, which adds a batch norm after the last stage.
"""

from collections import OrderedDict
from typing import Any

import timm.models
from torch import Tensor, nn

from unshortcut.errors import UsageError
from unshortcut.models.encoder import Encoder


class C4Trunk(nn.Module):
    """Maps images (N, 3, H, W) to the output of a ResNet's third stage, (N, C, H / 16, W / 16).

    `body` is the encoder's timm model, whose last stage `C4Head` uses.
    """

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        if not encoder.settings.plain or not isinstance(encoder.model, timm.models.ResNet):
            raise UsageError(
                f"network 'c4' needs a ResNet of timm, not '{encoder.settings.name}'; choose 'fpn'"
            )
        body: Any = encoder.model
        self.body = body
        self.memory_format = encoder.memory_format
        self.out_channels: int = body.feature_info[-2]["num_chs"]
        self.size_divisible = 32

    def forward(self, images: Tensor) -> "OrderedDict[str, Tensor]":
        body: Any = self.body
        stem = body.act1(body.bn1(body.conv1(images.contiguous(memory_format=self.memory_format))))
        third: Tensor = body.layer3(body.layer2(body.layer1(body.maxpool(stem))))
        return OrderedDict({"0": third})

    @property
    def from_scratch(self) -> list[nn.Module]:
        """What is not part of the encoder."""
        return []


class C4Head(nn.Module):
    """Maps the regions (R, C, 14, 14) of the third stage to features (R, out_channels).

    They go through the last stage of the encoder (`res5`), a new batch norm and average pooling.
    """

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        body: Any = encoder.model
        self.res5 = body.layer4
        self.memory_format = encoder.memory_format
        self.out_channels: int = body.num_features
        self.norm = nn.BatchNorm2d(self.out_channels)

    def forward(self, regions: Tensor) -> Tensor:
        regions = regions.contiguous(memory_format=self.memory_format)
        features: Tensor = self.norm(self.res5(regions)).mean(dim=(2, 3))
        return features
