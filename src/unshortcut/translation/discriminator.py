"""The PatchGAN discriminator of Pix2Pix (Isola et al. 2017, appendix 6.1.2)."""

from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor, nn

from unshortcut.errors import UsageError
from unshortcut.fields import Integer, PositiveInt
from unshortcut.parts import settings
from unshortcut.translation.generator import initialize

_WIDEST = 8
"""Channels of the widest layers, relative to `width`."""


@settings
class DiscriminatorSettings:
    """The published 70 × 70 PatchGAN has three layers that halve the image."""

    layers: Annotated[Integer, Field(ge=1, le=8)] = 3
    """Number of convolutions of stride 2; fewer see smaller patches, for small images."""
    width: PositiveInt = 64
    """Channels of the first layer."""
    batch_norm: bool = True

    @property
    def patch(self) -> int:
        """Side of the patch that one output sees, in pixels.

        >>> DiscriminatorSettings().patch, DiscriminatorSettings(layers=2).patch
        (70, 34)
        """
        side = 1
        for stride in (1, 1, *[2] * self.layers):
            side = (side - 1) * stride + 4
        return side

    def check(self, size: int) -> None:
        """Raise `UsageError` if nothing is left of an image of `size` pixels."""
        left = size
        for _ in range(self.layers):
            left //= 2
        if left < 3:
            raise UsageError(
                f"method.discriminator.layers {self.layers} needs views of at least "
                f"{3 * 2**self.layers} pixels, but views.size is {size}"
            )


class PatchDiscriminator(nn.Module):
    """Judges patches of a pair of images: logits (N, 1, h, w), positive for a real pair."""

    def __init__(self, settings: DiscriminatorSettings) -> None:
        super().__init__()
        width, norm = settings.width, settings.batch_norm
        channels = [width * min(2**level, _WIDEST) for level in range(settings.layers + 1)]
        layers: list[nn.Module] = [nn.Conv2d(6, channels[0], 4, 2, 1), nn.LeakyReLU(0.2)]
        for level in range(1, settings.layers + 1):
            stride = 2 if level < settings.layers else 1
            inner, outer = channels[level - 1 : level + 1]
            layers.append(nn.Conv2d(inner, outer, 4, stride, 1, bias=not norm))
            layers += [nn.BatchNorm2d(outer)] if norm else []
            layers.append(nn.LeakyReLU(0.2))
        layers.append(nn.Conv2d(channels[-1], 1, 4, 1, 1))
        self.layers = nn.Sequential(*layers)
        initialize(self)

    def forward(self, inputs: Tensor, images: Tensor) -> Tensor:
        """Logits for `images` (N, 3, H, W) as translations of `inputs`, of the same shape."""
        logits: Tensor = self.layers(torch.cat([inputs, images], dim=1))
        return logits
