"""Projection heads: from features to the embeddings that the loss compares.

Also the hidden layers of such heads on top of a network, which are the features of LooC's spaces.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn


class MLPHead(nn.Module):
    """Linear, (batch norm,) ReLU, …, Linear: features (N, in) to embeddings (N, out).

    MoCo-v2's head has two layers and no batch norm; SimCLR's has batch norm after every layer;
    BYOL's has it after hidden layers only, and a last layer without bias, unless `last_bias`.
    """

    def __init__(
        self,
        width_in: int,
        width_hidden: int,
        width_out: int,
        *,
        layers: int = 2,
        batch_norm: bool | Literal["hidden"] = False,
        last_bias: bool = False,
    ) -> None:
        super().__init__()
        widths = [width_in] + [width_hidden] * (layers - 1) + [width_out]
        parts: list[nn.Module] = []
        for number, (before, after) in enumerate(pairwise(widths), start=1):
            bias = not batch_norm or (last_bias and number == layers)
            parts.append(nn.Linear(before, after, bias=bias))
            if batch_norm is True or (batch_norm == "hidden" and number < layers):
                parts.append(nn.BatchNorm1d(after))
            if number < layers:
                parts.append(nn.ReLU(inplace=True))
        self.layers = nn.Sequential(*parts)
        self._last = len(parts) - 1 - (batch_norm is True)  # index of the last linear layer

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


class HiddenLayerSettings(BaseModel):
    """Number and width of the layers: each is linear, batch norm if any, and ReLU."""

    model_config = ConfigDict(extra="forbid")

    count: int = Field(1, ge=1)
    width: int = Field(2048, ge=1)
    batch_norm: bool = False


class WithHiddenLayers(nn.Module):
    """A network whose features (N, C) pass through every layer; the results are concatenated."""

    def __init__(self, network: nn.Module, settings: HiddenLayerSettings) -> None:
        super().__init__()
        self.network = network
        self.num_features = settings.count * settings.width
        width = int(getattr(network, "num_features"))  # noqa: B009 (timm's, untyped)
        self.layers = nn.ModuleList(_layer(width, settings) for _ in range(settings.count))

    def forward(self, images: Tensor) -> Tensor:
        """(N, 3, H, W) to (N, count · width)."""
        features = self.network(images)
        return torch.cat([layer(features) for layer in self.layers], dim=1)

    def forward_features(self, images: Tensor) -> Tensor:
        """Features of the network below before pooling."""
        features: Tensor = self.network.forward_features(images)  # type: ignore[operator]
        return features

    def set_grad_checkpointing(self, enable: bool = True) -> None:
        """Whether the network computes activations again in the backward pass, as in timm."""
        self.network.set_grad_checkpointing(enable)  # type: ignore[operator]

    def load(self, layers: Sequence[nn.Module]) -> None:
        """Copy the weights of layers such as `MLPHead.hidden`."""
        for own, given in zip(self.layers, layers, strict=True):
            own.load_state_dict(given.state_dict())


def _layer(width: int, settings: HiddenLayerSettings) -> nn.Sequential:
    norm = [nn.BatchNorm1d(settings.width)] if settings.batch_norm else []
    linear = nn.Linear(width, settings.width, bias=not settings.batch_norm)
    return nn.Sequential(linear, *norm, nn.ReLU())


class JigsawHead(nn.Module):
    """The jigsaw branch of PIRL and InfoMin: features of pieces to embeddings of images.

    Each piece goes through an MLP, then the concatenated pieces through one linear layer.
    """

    def __init__(
        self,
        width_in: int,
        width_hidden: int,
        width_out: int,
        *,
        pieces: int,
        batch_norm: bool = False,
    ) -> None:
        super().__init__()
        self.pieces = pieces
        self.piece = MLPHead(width_in, width_hidden, width_out, batch_norm=batch_norm)
        self.joined = nn.Linear(pieces * width_out, width_out)

    def forward(self, features: Tensor) -> Tensor:
        """(N·pieces, in) to (N, out)."""
        each = self.piece(features)  # (N·pieces, out)
        embeddings: Tensor = self.joined(each.reshape(len(each) // self.pieces, -1))
        return embeddings


class PuzzleHead(nn.Module):
    """Names the order of the tiles of a puzzle, from the features of each (Noroozi and Favaro).

    Each tile goes through a layer of its own width, then all of them, in the order in which they
    are shown, through a hidden layer and a classifier of P orders.
    """

    def __init__(
        self,
        width_in: int,
        width_tile: int,
        width_hidden: int,
        orders: int,
        *,
        tiles: int,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.tiles = tiles
        self.tile = nn.Sequential(nn.Linear(width_in, width_tile), nn.ReLU(), nn.Dropout(dropout))
        self.joined = nn.Sequential(
            nn.Linear(tiles * width_tile, width_hidden),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(width_hidden, orders),
        )

    def forward(self, features: Tensor, shown: Tensor) -> Tensor:
        """Features (N·tiles, in) of tiles in their places to logits (N, P).

        shown: (N, tiles), the tile that is shown in each place.
        """
        each = self.tile(features).unflatten(0, (-1, self.tiles))  # (N, tiles, width)
        logits: Tensor = self.joined(torch.take_along_dim(each, shown[:, :, None], 1).flatten(1))
        return logits


def cut(images: Tensor, grid: int) -> Tensor:
    """Cut images (N, C, H, W) into pieces (N·grid², C, H // grid, W // grid), row by row."""
    height, width = (side // grid for side in images.shape[2:])
    pieces = images.unfold(2, height, height).unfold(3, width, width)  # (N, C, rows, columns, h, w)
    pieces = pieces[:, :, :grid, :grid].permute(0, 2, 3, 1, 4, 5)
    return pieces.reshape(-1, images.shape[1], height, width)
