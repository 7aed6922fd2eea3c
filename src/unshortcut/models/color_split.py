"""Two networks side by side, one for lightness and one for color (CMC, Tian et al.)."""

from collections.abc import Sequence

import torch
from timm.data import IMAGENET_DEFAULT_MEAN, IMAGENET_DEFAULT_STD
from torch import Tensor, nn

from unshortcut.imaging.lab import scaled_lab


class ColorSplit(nn.Module):
    """A network with one input channel for L and one with two for a and b, of equal width.

    The input is normalized RGB as for any encoder. Mean and standard deviation are buffers, so
    that exported weights need nothing else.
    """

    mean: Tensor
    std: Tensor

    def __init__(
        self,
        lightness: nn.Module,
        color: nn.Module,
        memory_format: torch.memory_format = torch.channels_last,
    ) -> None:
        super().__init__()
        self.lightness = lightness
        self.color = color
        self.memory_format = memory_format
        parts = (lightness, color)
        self.num_features: int = sum(getattr(part, "num_features") for part in parts)  # noqa: B009
        self.register_buffer("mean", torch.empty(3))
        self.register_buffer("std", torch.empty(3))
        self.set_normalization(IMAGENET_DEFAULT_MEAN, IMAGENET_DEFAULT_STD)

    def set_normalization(self, mean: Sequence[float], std: Sequence[float]) -> None:
        """Set the mean and standard deviation by which the input, from 0 to 1, is normalized."""
        self.mean.copy_(torch.tensor(mean))
        self.std.copy_(torch.tensor(std))

    def parts(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Features of lightness and of color, (N, C) each, of normalized RGB (N, 3, H, W)."""
        lightness, color = self._split(images)
        return self.lightness(lightness), self.color(color)

    def forward(self, images: Tensor) -> Tensor:
        """Features of lightness and color, concatenated: (N, 2 C)."""
        return torch.cat(self.parts(images), dim=1)

    def forward_features(self, images: Tensor) -> Tensor:
        """Features of both before pooling: (N, 2 C, h, w), or (N, tokens, 2 C) for a ViT."""
        parts = zip((self.lightness, self.color), self._split(images), strict=True)
        maps = [part.forward_features(image) for part, image in parts]  # type: ignore[operator]
        return torch.cat(maps, dim=1 if maps[0].dim() == 4 else -1)

    def set_grad_checkpointing(self, enable: bool = True) -> None:
        """Whether both networks compute activations again in the backward pass, as in timm."""
        for part in (self.lightness, self.color):
            part.set_grad_checkpointing(enable)  # type: ignore[operator]

    def _split(self, images: Tensor) -> tuple[Tensor, Tensor]:
        mean, std = (constant.view(1, 3, 1, 1) for constant in (self.mean, self.std))
        lab = scaled_lab(images * std + mean)
        lightness, color = (
            part.contiguous(memory_format=self.memory_format) for part in (lab[:, :1], lab[:, 1:])
        )
        return lightness, color
