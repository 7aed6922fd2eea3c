"""Two networks side by side: one sees lightness, one sees color (CMC, Tian et al.)."""

from collections.abc import Sequence

import torch
from timm.data import IMAGENET_DEFAULT_MEAN, IMAGENET_DEFAULT_STD
from torch import Tensor, nn

from unshortcut.imaging.lab import scaled_lab


class ColorSplit(nn.Module):
    """A network of one channel for L and one of two channels for a and b, of equal width.

    It takes normalized RGB as any encoder does; what they were normalized by is kept in buffers,
    so an exported one needs nothing else.
    """

    mean: Tensor
    std: Tensor

    def __init__(self, lightness: nn.Module, color: nn.Module) -> None:
        super().__init__()
        self.lightness = lightness
        self.color = color
        widths = [int(getattr(part, "num_features")) for part in (lightness, color)]  # noqa: B009
        self.num_features = sum(widths)
        self.register_buffer("mean", torch.empty(3))
        self.register_buffer("std", torch.empty(3))
        self.expect(IMAGENET_DEFAULT_MEAN, IMAGENET_DEFAULT_STD)

    def expect(self, mean: Sequence[float], std: Sequence[float]) -> None:
        """Say what was subtracted from pixels in 0 to 1, and what they were divided by."""
        self.mean.copy_(torch.tensor(mean))
        self.std.copy_(torch.tensor(std))

    def parts(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Normalized RGB (N, 3, H, W) to features of its lightness and its color, (N, C) each."""
        lightness, color = self._split(images)
        return self.lightness(lightness), self.color(color)

    def forward(self, images: Tensor) -> Tensor:
        """Features of both, (N, 2 C)."""
        return torch.cat(self.parts(images), dim=1)

    def forward_features(self, images: Tensor) -> Tensor:
        """What both have before pooling: (N, 2 C, h, w), or (N, tokens, 2 C) for a ViT."""
        parts = zip((self.lightness, self.color), self._split(images), strict=True)
        maps = [part.forward_features(seen) for part, seen in parts]  # type: ignore[operator]
        return torch.cat(maps, dim=1 if maps[0].dim() == 4 else -1)

    def _split(self, images: Tensor) -> tuple[Tensor, Tensor]:
        mean, std = (constant.view(1, 3, 1, 1) for constant in (self.mean, self.std))
        lab = scaled_lab(images * std + mean)
        lightness, color = (
            part.contiguous(memory_format=torch.channels_last) for part in (lab[:, :1], lab[:, 1:])
        )
        return lightness, color
