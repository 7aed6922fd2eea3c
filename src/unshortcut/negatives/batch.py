"""Negatives from the batch: every other image on every rank."""

import torch
from torch import Tensor

from unshortcut.distributed import gather, rank, world_size
from unshortcut.negatives.source import ContrastStep, NegativeSettings, NegativeSource
from unshortcut.parts import settings


@settings
class BatchSettings(NegativeSettings):
    """This source has no settings."""

    name = "batch"

    def build(self, dim: int, seed: int) -> "BatchNegatives":
        return BatchNegatives()


class BatchNegatives(NegativeSource):
    """Compares each query with the positives of all other images, with gradient, on all ranks.

    With two queries per image (SimCLR), the positives are all embeddings of the batch. Then both
    embeddings of the query's own image are left out, the query itself and its positive.
    """

    def similarities(self, step: ContrastStep) -> Tensor:
        pool = gather(step.positives)  # (W·M, D)
        similarities = step.queries @ pool.T  # (M, W·M)
        count = len(step.queries)
        num_images = count // step.copies
        own = torch.arange(count, device=pool.device) % num_images
        other_ranks = torch.arange(world_size(), device=pool.device)[:, None] != rank()
        same_image = own[:, None] == own[None, :]  # (M, M), on this rank
        negative = torch.cat([~same_image | elsewhere for elsewhere in other_ranks], dim=1)
        return similarities.masked_select(negative).view(count, -1)
