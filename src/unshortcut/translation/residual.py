"""A generator that adds a correction to its input, at full resolution.

A filter changes an image little, so the identity is a better start than a U-Net, which has to
rebuild every pixel: here the first step already returns the photograph itself.
"""

from itertools import pairwise
from typing import Annotated

from pydantic import Field
from torch import Tensor, nn

from unshortcut.fields import Integer, PositiveInt
from unshortcut.parts import settings
from unshortcut.translation.generator import Generator, GeneratorSettings


@settings
class ResidualSettings(GeneratorSettings):
    """3 × 3 convolutions of stride 1, for images of any size; ours, not published."""

    name = "residual"

    width: PositiveInt = 32
    """Channels of the hidden layers."""
    depth: Annotated[Integer, Field(ge=2, le=64)] = 8
    """Number of convolutions; a pixel of the result depends on `depth` pixels to each side."""

    def build(self) -> "ResidualGenerator":
        return ResidualGenerator(self.width, self.depth)


class ResidualGenerator(Generator):
    """The input plus the output of convolutions, the last of which starts at zero."""

    def __init__(self, width: int = 32, depth: int = 8) -> None:
        super().__init__()
        channels = [3, *[width] * (depth - 1), 3]
        convolutions = [nn.Conv2d(a, b, 3, padding=1) for a, b in pairwise(channels)]
        for convolution in convolutions[:-1]:
            nn.init.kaiming_normal_(convolution.weight, nonlinearity="relu")
        nn.init.zeros_(convolutions[-1].weight)
        layers: list[nn.Module] = []
        for convolution in convolutions:
            assert convolution.bias is not None
            nn.init.zeros_(convolution.bias)
            layers += [convolution, nn.ReLU(inplace=True)]
        self.correction = nn.Sequential(*layers[:-1])

    def generate(self, images: Tensor) -> Tensor:
        corrected: Tensor = images + self.correction(images)
        return corrected
