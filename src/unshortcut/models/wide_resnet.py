"""`wrn_40_2`: the wide residual network for small images, with 40 layers and twice the width.

timm's and torchvision's wide ResNets are those for ImageNet. This is the one of Zagoruyko and
Komodakis (2016) for CIFAR. It is registered as a model of timm when this file is imported, so that
it is built, exported and loaded like every other encoder.
"""

from typing import Any

from timm.models import build_model_with_cfg, generate_default_cfgs, register_model
from torch import Tensor, nn
from torch.nn import functional as F

_STEM = 16
"""Channels of the first convolution."""
_STAGES = 3
_OUTSIDE_BLOCKS = 4
"""Convolutions that are not one of the two of a block: the stem, and those of the shortcuts."""


class WideBlock(nn.Module):
    """Batch norm and ReLU before each of two 3 × 3 convolutions, dropout between the two.

    Where the number of channels changes, the shortcut is a 1 × 1 convolution of the input after
    its batch norm and ReLU; otherwise it is the input itself.
    """

    def __init__(self, channels: int, width: int, stride: int, drop_rate: float) -> None:
        super().__init__()
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv1 = nn.Conv2d(channels, width, 3, stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.drop = nn.Dropout(drop_rate)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        changes = channels != width
        self.shortcut = nn.Conv2d(channels, width, 1, stride, bias=False) if changes else None

    def forward(self, maps: Tensor) -> Tensor:
        active = F.relu(self.bn1(maps))
        inner = self.drop(F.relu(self.bn2(self.conv1(active))))
        shortcut = maps if self.shortcut is None else self.shortcut(active)
        added: Tensor = shortcut + self.conv2(inner)
        return added


class WideResNet(nn.Module):
    """Three stages of blocks with 16, 32 and 64 times `width` channels at full, half and quarter
    size.

    Args:
        depth: 6 n + 4 for n blocks in each stage.
        drop_rate: probability with which a block leaves out an inner activation in training.
    """

    def __init__(
        self,
        depth: int = 40,
        width: int = 2,
        drop_rate: float = 0.0,
        num_classes: int = 1000,
        in_chans: int = 3,
    ) -> None:
        super().__init__()
        blocks, rest = divmod(depth - _OUTSIDE_BLOCKS, 2 * _STAGES)
        if rest or blocks < 1:
            raise ValueError(f"depth must be 6 n + 4, such as 40, not {depth}")
        self.conv1 = nn.Conv2d(in_chans, _STEM, 3, padding=1, bias=False)
        stages, channels = [], _STEM
        for stage in range(_STAGES):
            wide = _STEM * 2**stage * width
            layers = []
            for block in range(blocks):
                stride = 2 if stage and not block else 1
                layers.append(WideBlock(channels, wide, stride, drop_rate))
                channels = wide
            stages.append(nn.Sequential(*layers))
        self.stages = nn.Sequential(*stages)
        self.bn = nn.BatchNorm2d(channels)
        self.num_features = channels
        self.fc: nn.Module
        self.reset_classifier(num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, images: Tensor) -> Tensor:
        return self.forward_head(self.forward_features(images))

    def forward_features(self, images: Tensor) -> Tensor:
        """Maps (N, 64 width, H/4, W/4)."""
        return F.relu(self.bn(self.stages(self.conv1(images))))

    def forward_head(self, maps: Tensor, pre_logits: bool = False) -> Tensor:
        """Maps averaged over their cells, or the logits of the classifier, if there is one."""
        features = maps.mean(dim=(2, 3))
        return features if pre_logits else self.fc(features)

    def get_classifier(self) -> nn.Module:
        return self.fc

    def reset_classifier(self, num_classes: int) -> None:
        """A new linear classifier; none for 0 classes."""
        self.num_classes = num_classes
        self.fc = nn.Linear(self.num_features, num_classes) if num_classes else nn.Identity()


default_cfgs = generate_default_cfgs(
    {
        "wrn_40_2.untrained": {
            "input_size": (3, 32, 32),
            "crop_pct": 1.0,
            "interpolation": "bilinear",
            "mean": (0.5, 0.5, 0.5),
            "std": (0.5, 0.5, 0.5),
            "first_conv": "conv1",
            "classifier": "fc",
        }
    }
)
"""What timm knows of a model; it looks for this name."""


@register_model
def wrn_40_2(pretrained: bool = False, **options: Any) -> WideResNet:
    """A wide residual network of 40 layers and width 2; it has no weights to download."""
    model: WideResNet = build_model_with_cfg(WideResNet, "wrn_40_2", pretrained, **options)
    return model
