"""A regular negative: a random other image of the batch (NSN, appendix C.4, for BYOL)."""

from dataclasses import dataclass

import torch
from torch import Tensor

from unshortcut.distributed import gather, rank, world_size
from unshortcut.errors import UsageError
from unshortcut.negatives.alpha import WeighedSettings
from unshortcut.negatives.source import Contrast, NegativeSource


@dataclass(frozen=True)
class RegularSettings(WeighedSettings):
    """`count` other images a query, drawn from the batch of all ranks."""

    name = "regular"

    count: int = 1
    """How many a query."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.count < 1:
            raise UsageError(f"regular.count must be at least 1, got {self.count}")

    def build(self, dim: int, seed: int) -> "RegularNegatives":
        return RegularNegatives(self)


class RegularNegatives(NegativeSource):
    """Every query against the positives of random other images, which take no gradient."""

    def __init__(self, settings: RegularSettings) -> None:
        super().__init__()
        self.settings = settings

    def similarities(self, contrast: Contrast) -> Tensor:
        queries, copies = contrast.queries, contrast.copies
        alpha = self.settings.alpha_at(contrast.progress)
        if alpha == 0:
            return queries.new_empty(len(queries), 0)
        others = self._others(len(queries) // copies, copies, contrast.generator("regular"))
        pool = gather(contrast.positives.detach())  # (W·M, D)
        negatives = pool[others.to(pool.device)]  # (M, count, D)
        similarities = torch.einsum("md,mkd->mk", queries, negatives)
        return contrast.weigh(similarities, alpha, self.settings.placement)

    def _others(self, images: int, copies: int, generator: torch.Generator) -> Tensor:
        """(M, count): rows of the gathered positives that are of other images than a query's."""
        total = images * world_size()
        if total < 2:
            raise UsageError("a regular negative is another image of the batch; this has but one")
        # All ranks draw for all images, and each takes its own: two ranks draw what one does.
        shape = (copies, total, self.settings.count)
        away = torch.randint(1, total, shape, generator=generator)
        other = (torch.arange(total)[:, None] + away) % total
        block = torch.arange(copies)[:, None, None]
        rows = (other // images * copies + block) * images + other % images
        own = rows[:, rank() * images : (rank() + 1) * images]
        return own.reshape(copies * images, self.settings.count)
