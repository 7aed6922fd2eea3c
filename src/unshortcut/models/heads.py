"""Heads: from features to the space where the loss works."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn


class MLPHead(nn.Module):
    """Linear, (batch norm,) ReLU, …, Linear: features (N, in) to embeddings (N, out).

    Two layers without batch norm are MoCo-v2's head; SimCLR's has batch norm after every layer;
    BYOL's after hidden layers, and a last layer without bias.
    """

    def __init__(
        self,
        width_in: int,
        width_hidden: int,
        width_out: int,
        *,
        layers: int = 2,
        batch_norm: bool | Literal["hidden"] = False,
    ) -> None:
        super().__init__()
        widths = [width_in] + [width_hidden] * (layers - 1) + [width_out]
        parts: list[nn.Module] = []
        for number, (before, after) in enumerate(pairwise(widths), start=1):
            parts.append(nn.Linear(before, after, bias=not batch_norm))
            if batch_norm is True or (batch_norm == "hidden" and number < layers):
                parts.append(nn.BatchNorm1d(after))
            if number < layers:
                parts.append(nn.ReLU(inplace=True))
        self.layers = nn.Sequential(*parts)
        self._last = len(parts) - 1 - (batch_norm is True)
        """Place of the last linear layer."""

    def forward(self, features: Tensor) -> Tensor:
        embeddings: Tensor = self.layers(features)
        return embeddings

    @property
    def hidden(self) -> nn.Sequential:
        """All before the last linear layer: features (N, in) to (N, hidden), after the ReLU."""
        return self.layers[: self._last]


class SpaceHeads(nn.Module):
    """A head for each of S spaces: features (N, in) to embeddings (N, S, out) (LooC, section 3).

    The features go into every head; with `apart`, they are S equal parts, one for each head, as
    the branches of LooC++ make them.
    """

    def __init__(self, heads: Sequence[MLPHead], *, apart: bool) -> None:
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.apart = apart

    def forward(self, features: Tensor) -> Tensor:
        count = len(self.heads)
        parts = features.chunk(count, dim=1) if self.apart else [features] * count
        return torch.stack([head(part) for head, part in zip(self.heads, parts, strict=True)], 1)
