"""Heads: from features to the space where the objective works."""

from itertools import pairwise
from typing import Literal

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

    def forward(self, features: Tensor) -> Tensor:
        embeddings: Tensor = self.layers(features)
        return embeddings
