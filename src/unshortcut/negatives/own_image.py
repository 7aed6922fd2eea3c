"""Negatives with the texture of the query's own image but without its shape (NSN)."""

from abc import abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor

from unshortcut.fields import PositiveInt
from unshortcut.negatives.alpha import WeightedNegatives, WeightedSettings
from unshortcut.negatives.source import ContrastStep
from unshortcut.parts import settings
from unshortcut.views.transform import ViewTransform


@settings
class OwnImageSettings(WeightedSettings):
    """Settings of negatives that are views of the query's own image."""

    count: PositiveInt = 1
    """Number of negatives per query."""
    view: str = "own_image"
    """Name of the view; the names of further views are derived from it."""

    @abstractmethod
    def transform(self, query: str) -> ViewTransform:
        """The transform that makes a negative of a query."""

    def build(self, dim: int, seed: int) -> "OwnImageNegatives":
        return OwnImageNegatives(self)

    def view_transforms(self, queries: Sequence[str]) -> dict[str, ViewTransform]:
        return {
            self.view_name(query, number): self.transform(query)
            for query in queries
            for number in range(self.count)
        }

    def view_name(self, query: str, number: int) -> str:
        """`patch_negative`, `patch_negative_2`, …; `key_patch_negative`, … for the view `key`."""
        owner = "" if query == "query" else f"{query}_"
        return f"{owner}{self.view}" + (f"_{number + 1}" if number else "")


class OwnImageNegatives(WeightedNegatives):
    """Compares each query with its own negatives, encoded like keys and never enqueued."""

    settings: OwnImageSettings

    def unweighted(self, step: ContrastStep) -> Tensor:
        columns = []
        for number in range(self.settings.count):
            names = [self.settings.view_name(query, number) for query in step.query_views]
            negatives = torch.cat([step.encode(step.views[name]) for name in names])
            columns.append((step.queries * negatives).sum(dim=1))
        return torch.stack(columns, dim=1)
