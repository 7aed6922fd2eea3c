"""Small stand-ins for tests: encoders without and with batch norm, views, a quick recipe."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from unshortcut.models.encoder import Encoder, EncoderSettings

TINY = EncoderSettings(
    name="resnet18", options={"layers": [1, 1, 1, 1], "channels": [8, 8, 16, 16]}
)

TINY_RECIPE: dict[str, Any] = {
    "extends": "moco-v2-shapes",
    "data": {"batch_size": 32, "workers": 0},
    "views": {"size": 24},
    "encoder": TINY.model_dump(),
    "method": {
        "hidden": 16,
        "dim": 8,
        "negatives": [{"name": "queue", "size": 48}],
        "batch_norm_groups": 4,
    },
    "schedule": {"epochs": 2, "warmup_epochs": 0},
    "training": {"knn_epochs": 0, "checkpoint_steps": 1},
}


class PlainEncoder(Encoder):
    """Two linear layers: no batch norm, so a batch in halves equals the whole."""

    def __init__(self) -> None:
        nn.Module.__init__(self)
        self.settings = EncoderSettings()
        self.dim = 6
        self.model = nn.Sequential(
            nn.Flatten(), nn.Linear(3 * 4 * 4, 12), nn.Tanh(), nn.Linear(12, self.dim)
        )


class WithMaps(nn.Sequential):
    """Layers of which the first three make a feature map, with timm's names for the two parts."""

    def forward_features(self, images: Tensor) -> Tensor:
        maps: Tensor = self[:3](images)
        return maps

    def forward_head(self, maps: Tensor) -> Tensor:
        features: Tensor = self[3:](maps)
        return features


class NormedEncoder(Encoder):
    """A convolution with batch norm, for images of any size."""

    def __init__(self) -> None:
        nn.Module.__init__(self)
        self.settings = EncoderSettings()
        self.dim = 6
        self.model = WithMaps(
            nn.Conv2d(3, 6, 3, padding=1),
            nn.BatchNorm2d(6),
            nn.Tanh(),
            nn.AdaptiveAvgPool2d(2),
            nn.Flatten(),
            nn.Linear(24, self.dim),
        )


def random_views(names: tuple[str, ...], count: int, seed: int, size: int = 4) -> dict[str, Tensor]:
    """Normalized float64 views (count, 3, size, size)."""
    generator = torch.Generator().manual_seed(seed)
    return {
        name: torch.randn(count, 3, size, size, dtype=torch.float64, generator=generator)
        for name in names
    }


def part_of(views: Mapping[str, Tensor], rank: int, world: int) -> dict[str, Tensor]:
    """The rows of a batch that one rank has."""
    return {name: view.chunk(world)[rank] for name, view in views.items()}
