"""Tiny models that look at one thing: coarse shapes, or the noise of compression."""

import torch
from torch import Tensor
from torch.nn import functional


class Coarse:
    """Sees the image at 6 × 6 pixels."""

    preprocessing = {"size": 48, "crop_share": 1.0}  # noqa: RUF012

    def features(self, images: Tensor) -> Tensor:
        return functional.adaptive_avg_pool2d(images, 6).flatten(1)


class Detail:
    """Sees how much fine detail there is, and nothing else."""

    preprocessing = {"size": 48, "crop_share": 1.0}  # noqa: RUF012

    def features(self, images: Tensor) -> Tensor:
        rows = images.diff(dim=2).abs().mean((1, 2, 3))
        columns = images.diff(dim=3).abs().mean((1, 2, 3))
        blocks = images.diff(dim=3)[..., 7::8].abs().mean((1, 2, 3))
        return torch.stack([rows, columns, blocks, rows**2, blocks**2], dim=1)
