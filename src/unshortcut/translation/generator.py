"""The base of generators, networks that turn an image into an image of the same size.

Images are (N, 3, H, W) on the scale of −1 to 1, as in Pix2Pix (Isola et al. 2017).
"""

from abc import ABC, abstractmethod
from typing import Annotated, ClassVar, Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.parts import PartOf

INITIAL_STD = 0.02
"""Standard deviation of the initial weights in Pix2Pix."""


class Generator(nn.Module, ABC):
    """A network whose input has sides that are multiples of `multiple`."""

    multiple: int = 1

    @abstractmethod
    def generate(self, images: Tensor) -> Tensor:
        """Images (N, 3, H, W) to images of the same shape; H and W are multiples of `multiple`."""

    def forward(self, images: Tensor) -> Tensor:
        """`generate` for images of any size: padded by reflection, and cropped back."""
        height, width = images.shape[-2:]
        bottom, right = -height % self.multiple, -width % self.multiple
        if bottom or right:
            images = pad_by_reflection(images, bottom, right)
        return self.generate(images)[..., :height, :width]


class GeneratorSettings(ABC):
    """Settings of a generator as fields (see `parts.settings`), found by its `name`."""

    name: ClassVar[str]

    @abstractmethod
    def build(self) -> Generator:
        """The network with initial weights from torch's random numbers."""

    def fitted(self, size: int | None) -> Self:
        """The settings with what depends on the size of images, in pixels, filled in."""
        return self

    def check(self, size: int) -> None:
        """Raise `UsageError` if the network cannot be trained on images of `size` pixels."""
        return


AnyGenerator = Annotated[
    GeneratorSettings, PartOf("unshortcut.translation", GeneratorSettings, "generator")
]
"""A field that holds a generator's settings."""


def pad_by_reflection(images: Tensor, bottom: int, right: int) -> Tensor:
    """Pad (N, C, H, W) below and to the right; an image smaller than its border is mirrored again.

    >>> pad_by_reflection(torch.arange(3.0).view(1, 1, 1, 3), 0, 4).flatten().tolist()
    [0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 2.0]
    """
    for axis, border in ((-2, bottom), (-1, right)):
        length = images.shape[axis]
        if border:
            period = max(2 * (length - 1), 1)
            places = torch.arange(length + border, device=images.device) % period
            mirrored = torch.where(places < length, places, period - places)
            images = images.index_select(axis % images.ndim, mirrored)
    return images


def initialize(network: nn.Module) -> None:
    """Draw weights as Pix2Pix does: N(0, 0.02), batch norm's scales N(1, 0.02), biases 0."""
    for module in network.modules():
        if isinstance(module, nn.Conv2d | nn.ConvTranspose2d):
            nn.init.normal_(module.weight, 0.0, INITIAL_STD)
        elif isinstance(module, nn.BatchNorm2d):
            nn.init.normal_(module.weight, 1.0, INITIAL_STD)
        else:
            continue
        if module.bias is not None:
            nn.init.zeros_(module.bias)


def leaky(x: Tensor) -> Tensor:
    """The leaky rectifier of Pix2Pix."""
    return F.leaky_relu(x, 0.2)
