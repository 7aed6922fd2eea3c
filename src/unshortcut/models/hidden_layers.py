"""Hidden layers of projection heads on top of a network: the features of LooC's spaces."""

from collections.abc import Sequence

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn


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

    def load(self, layers: Sequence[nn.Module]) -> None:
        """Copy the weights of layers such as `MLPHead.hidden`."""
        for own, given in zip(self.layers, layers, strict=True):
            own.load_state_dict(given.state_dict())


def _layer(width: int, settings: HiddenLayerSettings) -> nn.Sequential:
    norm = [nn.BatchNorm1d(settings.width)] if settings.batch_norm else []
    linear = nn.Linear(width, settings.width, bias=not settings.batch_norm)
    return nn.Sequential(linear, *norm, nn.ReLU())
