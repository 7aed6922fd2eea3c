"""Regular negatives: random other images of the batch (NSN, appendix C.4, for BYOL)."""

import torch
from torch import Tensor

from unshortcut.distributed import gather, rank, world_size
from unshortcut.errors import UsageError
from unshortcut.fields import PositiveInt
from unshortcut.negatives.alpha import WeightedNegatives, WeightedSettings
from unshortcut.negatives.source import ContrastStep
from unshortcut.parts import settings


@settings
class RegularSettings(WeightedSettings):
    """Random other images from the batch of all ranks."""

    name = "regular"

    count: PositiveInt = 1
    """Number of negatives per query."""

    def build(self, dim: int, seed: int) -> "RegularNegatives":
        return RegularNegatives(self)


class RegularNegatives(WeightedNegatives):
    """Compares each query with the positives of random other images, without gradient."""

    settings: RegularSettings

    def unweighted(self, step: ContrastStep) -> Tensor:
        queries, copies = step.queries, step.copies
        others = self._others(len(queries) // copies, copies, step.generator("regular"))
        pool = gather(step.positives.detach())  # (W·M, D)
        negatives = pool[others.to(pool.device)]  # (M, count, D)
        return torch.einsum("md,mkd->mk", queries, negatives)

    def _others(self, num_images: int, copies: int, generator: torch.Generator) -> Tensor:
        """(M, count): indices of gathered positives that belong to other images than the query."""
        total = num_images * world_size()
        if total < 2:
            raise UsageError("regular negatives need at least two images in a batch")
        # All ranks sample for all images and each keeps its own, so that two ranks equal one.
        shape = (copies, total, self.settings.count)
        away = torch.randint(1, total, shape, generator=generator)
        other = (torch.arange(total)[:, None] + away) % total
        block = torch.arange(copies)[:, None, None]
        rows = (other // num_images * copies + block) * num_images + other % num_images
        own = rows[:, rank() * num_images : (rank() + 1) * num_images]
        return own.reshape(copies * num_images, self.settings.count)
