"""Feature pyramids: maps of several strides from the modules of an encoder.

The names of parameters are those of torchvision's `BackboneWithFPN`: `body` is the encoder's own
timm model, so that a detector on a ResNet has the state dict of torchvision's builder.
"""

import math
from collections import OrderedDict
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import timm.models
import torch
from timm.layers import LayerNorm2d, PatchEmbed
from torch import Tensor, nn
from torchvision.ops.feature_pyramid_network import FeaturePyramidNetwork, LastLevelMaxPool

from unshortcut.errors import UsageError
from unshortcut.models.encoder import Encoder
from unshortcut.transfer.networks.any_size import take_any_size
from unshortcut.transfer.networks.unused import freeze_unused

_LEVELS = 4
_TRIAL_SIDE = 64


class StagePyramid(nn.Module):
    """The last four stages of a CNN through a feature pyramid network (Lin et al. 2017).

    Maps images (N, 3, H, W) to five maps (N, out_channels, h, w) named `0` to `3` and `pool`.
    """

    def __init__(self, encoder: Encoder, out_channels: int) -> None:
        super().__init__()
        body: Any = encoder.model
        self.body = body
        self.memory_format = encoder.memory_format
        self.out_channels = out_channels
        self.size_divisible = 32
        self.indices = list(range(len(body.feature_info)))[-_LEVELS:]
        maps = _trial(self, encoder)
        channels = [one.shape[1] for one in maps]
        self.fpn = FeaturePyramidNetwork(channels, out_channels, LastLevelMaxPool())

    def maps(self, images: Tensor) -> list[Tensor]:
        """The outputs of the stages, (N, C, h, w) each."""
        images = images.contiguous(memory_format=self.memory_format)
        found: list[Tensor] = self.body.forward_intermediates(
            images, indices=self.indices, intermediates_only=True
        )
        return found

    def forward(self, images: Tensor) -> "OrderedDict[str, Tensor]":
        named = OrderedDict((str(level), one) for level, one in enumerate(self.maps(images)))
        pyramid: OrderedDict[str, Tensor] = self.fpn(named)
        return pyramid

    @property
    def from_scratch(self) -> list[nn.Module]:
        """What is not part of the encoder."""
        return [self.fpn]


class SimplePyramid(nn.Module):
    """The last map of a ViT at four times, twice, once and half its resolution (Li et al. 2022).

    Each is followed by a 1×1 and a 3×3 convolution with layer norm; there is no top-down pathway.
    The names and shapes of the maps are those of `StagePyramid`.
    """

    def __init__(self, encoder: Encoder, out_channels: int) -> None:
        super().__init__()
        body: Any = encoder.model
        self.body = body
        self.memory_format = encoder.memory_format
        self.out_channels = out_channels
        self.size_divisible = max(32, 2 * _patch_size(body, encoder.settings.name))
        take_any_size(body)
        _trial(self, encoder)
        dim: int = body.embed_dim
        up = [
            nn.Sequential(
                nn.ConvTranspose2d(dim, dim // 2, 2, stride=2),
                LayerNorm2d(dim // 2),
                nn.GELU(),
                nn.ConvTranspose2d(dim // 2, dim // 4, 2, stride=2),
            ),
            nn.ConvTranspose2d(dim, dim // 2, 2, stride=2),
            nn.Identity(),
            nn.MaxPool2d(2),
        ]
        widths = (dim // 4, dim // 2, dim, dim)
        self.fpn = nn.ModuleList(
            nn.Sequential(
                scaled,
                nn.Conv2d(width, out_channels, 1, bias=False),
                LayerNorm2d(out_channels),
                nn.Conv2d(out_channels, out_channels, 3, padding=1, bias=False),
                LayerNorm2d(out_channels),
            )
            for scaled, width in zip(up, widths, strict=True)
        )
        self.coarsest = LastLevelMaxPool()

    def maps(self, images: Tensor) -> list[Tensor]:
        """The normalized patch tokens of the last block, (N, dim, h, w), as the only map."""
        images = images.contiguous(memory_format=self.memory_format)
        found: list[Tensor] = self.body.forward_intermediates(
            images, indices=1, norm=True, intermediates_only=True
        )
        return found

    def forward(self, images: Tensor) -> "OrderedDict[str, Tensor]":
        (last,) = self.maps(images)
        maps = [level(last) for level in self.fpn]
        maps, names = self.coarsest(maps, maps, [str(level) for level in range(_LEVELS)])
        return OrderedDict(zip(names, maps, strict=True))

    @property
    def from_scratch(self) -> list[nn.Module]:
        """What is not part of the encoder."""
        return [self.fpn]


def pyramid(encoder: Encoder, out_channels: int) -> StagePyramid | SimplePyramid:
    """The feature pyramid of an encoder; a `UsageError` if it has none."""
    body = encoder.model
    if not encoder.settings.plain:
        raise UsageError(
            "a feature pyramid needs a single network: it excludes encoder.color_split, "
            "encoder.branches and encoder.hidden_layers"
        )
    if isinstance(body, timm.models.VisionTransformer):
        if isinstance(body.patch_embed, PatchEmbed):
            return SimplePyramid(encoder, out_channels)
        raise _unsupported(encoder)
    reductions = [stage["reduction"] for stage in getattr(body, "feature_info", None) or []]
    last = reductions[-_LEVELS:]
    if len(last) < _LEVELS or any(b != 2 * a for a, b in pairwise(last)):
        raise _unsupported(encoder)
    if not hasattr(body, "forward_intermediates"):
        raise _unsupported(encoder)
    return StagePyramid(encoder, out_channels)


def _patch_size(vit: Any, name: str) -> int:
    height, width = vit.patch_embed.patch_size
    if height != width or height < _LEVELS or math.log2(height) % 1:
        raise UsageError(
            f"encoder '{name}' has patches of {height} × {width} pixels, but a feature pyramid "
            "needs a power of two of at least 4; choose one with patches of 8 or 16 pixels"
        )
    return int(height)


def _trial(backbone: StagePyramid | SimplePyramid, encoder: Encoder) -> Sequence[Tensor]:
    """The maps of a small image; parameters on which they do not depend are not trained."""
    body: nn.Module = backbone.body
    weight = next(body.parameters())
    side = max(_TRIAL_SIDE, backbone.size_divisible)
    image = torch.zeros(2, 3, side, side, device=weight.device, dtype=weight.dtype)
    training = body.training
    body.eval()
    try:
        with torch.enable_grad():
            maps = backbone.maps(image)
            freeze_unused(body, maps)
    except (AssertionError, RuntimeError, ValueError) as error:
        raise UsageError(
            f"encoder '{encoder.settings.name}' does not take images of other sizes than its own, "
            f"which detection needs: {error}"
        ) from None
    finally:
        body.train(training)
    return [one.detach() for one in maps]


def _unsupported(encoder: Encoder) -> UsageError:
    return UsageError(
        f"encoder '{encoder.settings.name}' has no stages from which timm takes maps, each at half "
        "the resolution of the one before; choose a ResNet, another CNN with stages such as a "
        "ConvNeXt, or a plain ViT"
    )
