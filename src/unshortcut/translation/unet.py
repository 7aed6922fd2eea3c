"""The U-Net generator of Pix2Pix (Isola et al. 2017, appendix 6.1.1), for images of any size."""

from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor, nn

from unshortcut.errors import UsageError
from unshortcut.fields import Integer, PositiveInt, Probability
from unshortcut.parts import settings
from unshortcut.translation.generator import Generator, GeneratorSettings, initialize, leaky

DEEPEST = 8
_WIDEST = 8
"""Channels of the widest layers, relative to `width`."""
_DROPPED_FROM = 4
"""Levels from here on have dropout on the way up, except the innermost one."""


@settings
class UNetSettings(GeneratorSettings):
    """The published network: with its defaults and images of 256 pixels, 54.4 M parameters."""

    name = "unet"

    width: PositiveInt = 64
    """Channels of the first layer; each level has twice as many, up to eight times."""
    depth: Annotated[Integer, Field(ge=1, le=16)] | None = None
    """Times the image is halved; None for the deepest that its size allows, at most 8."""
    dropout: Probability = 0.5

    def fitted(self, size: int | None) -> "UNetSettings":
        depth = self.depth
        if depth is None:
            if size is None:
                raise UsageError("generator 'unet': without views.size, 'depth' must be given")
            depth = min((size & -size).bit_length() - 1, DEEPEST)  # twos that divide the size
            if depth == 0:
                raise UsageError(
                    f"generator 'unet' needs views whose side is even, but views.size is {size}"
                )
        return UNetSettings(self.width, depth, self.dropout)

    def check(self, size: int) -> None:
        if self.depth is not None and size % 2**self.depth:
            raise UsageError(
                f"generator 'unet' with depth {self.depth} needs views whose side is a multiple of "
                f"{2**self.depth}, but views.size is {size}"
            )

    def build(self) -> "UNetGenerator":
        if self.depth is None:
            raise UsageError("generator 'unet': 'depth' must be given to build it")
        return UNetGenerator(self.width, self.depth, self.dropout)


class UNetGenerator(Generator):
    """Halves the image `depth` times and doubles it again; every level passes on its input.

    As in the authors' code, convolutions are 4 × 4 with stride 2; all but the outermost and, on the
    way down, the innermost are followed by batch norm.
    """

    def __init__(self, width: int = 64, depth: int = DEEPEST, dropout: float = 0.5) -> None:
        super().__init__()
        self.multiple = 2**depth
        channels = [width * min(2**level, _WIDEST) for level in range(depth)]
        inputs = [3, *channels[:-1]]
        self.down, self.up = nn.ModuleList(), nn.ModuleList()
        for level, (outer, inner) in enumerate(zip(inputs, channels, strict=True)):
            outermost, innermost = level == 0, level == depth - 1
            down: list[nn.Module] = [nn.Conv2d(outer, inner, 4, 2, 1, bias=False)]
            if not outermost and not innermost:
                down.append(nn.BatchNorm2d(inner))
            wide = inner if innermost else 2 * inner  # with what the level has passed on
            up: list[nn.Module] = [nn.ConvTranspose2d(wide, outer, 4, 2, 1, bias=outermost)]
            if not outermost:
                up.append(nn.BatchNorm2d(outer))
            if level >= _DROPPED_FROM and not innermost:
                up.append(nn.Dropout(dropout))
            self.down.append(nn.Sequential(*down))
            self.up.append(nn.Sequential(*up))
        initialize(self)

    def generate(self, images: Tensor) -> Tensor:
        passed: list[Tensor] = []
        x = images
        for level, down in enumerate(self.down):
            x = down(x if level == 0 else leaky(x))
            passed.append(x)
        for level in reversed(range(len(self.up))):
            innermost = level == len(self.up) - 1
            x = passed[level] if innermost else torch.cat([passed[level], x], dim=1)
            x = self.up[level](torch.relu(x))
        return torch.tanh(x)
