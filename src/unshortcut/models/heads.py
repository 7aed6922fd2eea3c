"""Projection heads: from features to the embeddings that the loss compares."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn


class MLPHead(nn.Module):
    """Linear, (batch norm,) ReLU, …, Linear: features (N, in) to embeddings (N, out).

    MoCo-v2's head has two layers and no batch norm; SimCLR's has batch norm after every layer;
    BYOL's has it after hidden layers only, and a last layer without bias.
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
        """Index of the last linear layer."""

    def forward(self, features: Tensor) -> Tensor:
        embeddings: Tensor = self.layers(features)
        return embeddings

    @property
    def hidden(self) -> nn.Sequential:
        """The layers before the last linear one: features (N, in) to (N, hidden)."""
        return self.layers[: self._last]


class SpaceHeads(nn.Module):
    """One head for each of S spaces: features (N, in) to embeddings (N, S, out) (LooC, section 3).

    Every head gets all features; with `split_features`, each gets one of S equal parts, as the
    branches of LooC++ produce them.
    """

    def __init__(self, heads: Sequence[MLPHead], *, split_features: bool) -> None:
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.split_features = split_features

    def forward(self, features: Tensor) -> Tensor:
        count = len(self.heads)
        parts = features.chunk(count, dim=1) if self.split_features else [features] * count
        return torch.stack([head(part) for head, part in zip(self.heads, parts, strict=True)], 1)
