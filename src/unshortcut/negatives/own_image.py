"""Negatives made of the query's own image: what only its texture says must not suffice (NSN)."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from unshortcut.errors import UsageError
from unshortcut.negatives.alpha import WeighedSettings
from unshortcut.negatives.source import Contrast, NegativeSource
from unshortcut.views.transform import ViewTransform


@dataclass(frozen=True)
class OwnImageSettings(WeighedSettings):
    """Views of the query's own image that are its negatives."""

    count: int = 1
    """How many a query."""
    view: str = "own_image"
    """What the view is called; further ones, and those of other queries, are called after it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.count < 1:
            raise UsageError(f"{self.name}.count must be at least 1, got {self.count}")

    @abstractmethod
    def transform(self, query: str) -> ViewTransform:
        """How a negative of a query is made."""

    def build(self, dim: int, seed: int) -> "OwnImageNegatives":
        return OwnImageNegatives(self)

    def view_transforms(self, queries: Sequence[str]) -> dict[str, ViewTransform]:
        return {
            self.view_name(query, number): self.transform(query)
            for query in queries
            for number in range(self.count)
        }

    def view_name(self, query: str, number: int) -> str:
        """`patch_negative`, `patch_negative_2`, …; `key_patch_negative`, … of the view `key`."""
        owner = "" if query == "query" else f"{query}_"
        return f"{owner}{self.view}" + (f"_{number + 1}" if number else "")


class OwnImageNegatives(NegativeSource):
    """Every query against negatives of its own, encoded as keys are, never enqueued."""

    def __init__(self, settings: OwnImageSettings) -> None:
        super().__init__()
        self.settings = settings

    def similarities(self, contrast: Contrast) -> Tensor:
        settings = self.settings
        alpha = settings.alpha_at(contrast.progress)
        if alpha == 0:
            return contrast.queries.new_empty(len(contrast.queries), 0)
        columns = []
        for number in range(settings.count):
            names = [settings.view_name(query, number) for query in contrast.query_views]
            negatives = torch.cat([contrast.encode(contrast.views[name]) for name in names])
            columns.append((contrast.queries * negatives).sum(dim=1))
        return contrast.weigh(torch.stack(columns, dim=1), alpha, settings.placement)
