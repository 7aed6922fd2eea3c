"""`alexnet_jigsaw`: the AlexNet of the jigsaw papers, whose first convolution has stride 2.

Neither timm nor torchvision has it. It is registered as a model of timm when this file is imported,
so that it is built, exported and loaded like every other encoder.
"""

from typing import Any

from timm.models import build_model_with_cfg, generate_default_cfgs, register_model
from torch import Tensor, nn

from unshortcut.inference.preprocessing import IMAGENET_MEAN, IMAGENET_STD

MAP_SIDE = 3
"""Side of the feature maps of a tile of 75 pixels."""
WIDTH = 256
"""Channels of the last convolution."""


class AlexNet(nn.Module):
    """Five convolutions, three of them in two groups, with local response normalization.

    Images (N, 3, H, W) become maps (N, 256, h, w), which are averaged over a grid of 3 × 3; so a
    tile of 75 pixels, whose maps are 3 × 3, has the 2,304 features of the public Jigsaw code, and
    an image of any size has as many. Layers have torch's initial weights, as in that code.
    """

    num_features = WIDTH * MAP_SIDE**2

    def __init__(self, num_classes: int = 1000, in_chans: int = 3) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.features = nn.Sequential(
            nn.Conv2d(in_chans, 96, 11, stride=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, stride=2),
            nn.LocalResponseNorm(5),
            nn.Conv2d(96, 256, 5, padding=2, groups=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, stride=2),
            nn.LocalResponseNorm(5),
            nn.Conv2d(256, 384, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv2d(384, 384, 3, padding=1, groups=2),
            nn.ReLU(inplace=True),
            nn.Conv2d(384, WIDTH, 3, padding=1, groups=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, stride=2),
        )
        self.pool = nn.AdaptiveAvgPool2d(MAP_SIDE)
        self.fc: nn.Module
        self.reset_classifier(num_classes)

    def forward(self, images: Tensor) -> Tensor:
        return self.forward_head(self.forward_features(images))

    def forward_features(self, images: Tensor) -> Tensor:
        """Maps (N, 256, h, w)."""
        maps: Tensor = self.features(images)
        return maps

    def forward_head(self, maps: Tensor, pre_logits: bool = False) -> Tensor:
        """Features (N, 2304) of maps, or the logits of the classifier, if there is one."""
        features: Tensor = self.pool(maps).flatten(1)
        return features if pre_logits else self.fc(features)

    def get_classifier(self) -> nn.Module:
        return self.fc

    def reset_classifier(self, num_classes: int) -> None:
        """A new linear classifier; none for 0 classes."""
        self.num_classes = num_classes
        self.fc = nn.Linear(self.num_features, num_classes) if num_classes else nn.Identity()


default_cfgs = generate_default_cfgs(
    {
        "alexnet_jigsaw.untrained": {
            "input_size": (3, 227, 227),
            "crop_pct": 0.875,
            "interpolation": "bilinear",
            "mean": IMAGENET_MEAN,
            "std": IMAGENET_STD,
            "first_conv": "features.0",
            "classifier": "fc",
        }
    }
)
"""What timm knows of a model; it looks for this name."""


@register_model
def alexnet_jigsaw(pretrained: bool = False, **options: Any) -> AlexNet:
    """AlexNet with a first stride of 2 and no weights to download."""
    model: AlexNet = build_model_with_cfg(AlexNet, "alexnet_jigsaw", pretrained, **options)
    return model
