"""Negatives out of the batch: every other image on every rank."""

from dataclasses import dataclass

import torch
from torch import Tensor

from unshortcut.distributed import gather, rank, world_size
from unshortcut.negatives.source import Contrast, NegativeSettings, NegativeSource


@dataclass(frozen=True)
class BatchSettings(NegativeSettings):
    """The batch has no settings."""

    name = "batch"

    def build(self, dim: int, seed: int) -> "BatchNegatives":
        return BatchNegatives()


class BatchNegatives(NegativeSource):
    """Every query against the positives of all other images, gathered with their gradient.

    With two queries an image (SimCLR) the positives are all embeddings of the batch, and both
    rows of the query's own image are left out: the query itself and its positive.
    """

    def similarities(self, contrast: Contrast) -> Tensor:
        pool = gather(contrast.positives)  # (W·M, D)
        similarities = contrast.queries @ pool.T  # (M, W·M)
        count = len(contrast.queries)
        images = count // contrast.copies
        own = torch.arange(count, device=pool.device) % images
        other_ranks = torch.arange(world_size(), device=pool.device)[:, None] != rank()
        same_image = own[:, None] == own[None, :]  # (M, M), on this rank
        negative = torch.cat([~same_image | elsewhere for elsewhere in other_ranks], dim=1)
        return similarities.masked_select(negative).view(count, -1)
