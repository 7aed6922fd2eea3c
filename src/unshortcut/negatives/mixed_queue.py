"""A queue with harder negatives mixed out of its hardest: MoCHi (Kalantidis et al., 2020)."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from unshortcut.distributed import own_part, world_size
from unshortcut.errors import UsageError
from unshortcut.models.queue import Queue
from unshortcut.negatives.queue import QueueNegatives, QueueSettings
from unshortcut.negatives.source import Contrast


@dataclass(frozen=True)
class MixedQueueSettings(QueueSettings):
    """The queue, and mixes for each query; MoCHi (512, 1024, 512) on ImageNet-1K, by default."""

    name = "mixed_queue"

    hardest: int = 512
    """How many keys, those nearest to the query, are mixed (N in MoCHi)."""
    mixes: int = 1024
    """Mixes of two hard keys (s)."""
    query_mixes: int = 512
    """Mixes of a hard key and the query itself, which weighs less than the key (s′)."""
    start: float = 0.075
    """The share of the training before which nothing is mixed: 15 of 200 epochs."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.hardest <= self.size:
            raise UsageError(
                f"mixed_queue.hardest must be at least 1 and at most the size of the queue, "
                f"{self.size}, got {self.hardest}"
            )
        for key, count in (("mixes", self.mixes), ("query_mixes", self.query_mixes)):
            if count < 0:
                raise UsageError(f"mixed_queue.{key} must be at least 0, got {count}")
        if not 0 <= self.start <= 1:
            raise UsageError(f"mixed_queue.start must be from 0 to 1, got {self.start}")

    def build(self, dim: int, seed: int) -> "MixedQueueNegatives":
        return MixedQueueNegatives(Queue(self.size, dim, seed), self)


class MixedQueueNegatives(QueueNegatives):
    """Every query against all keys in the queue and mixes of the nearest, without gradient."""

    def __init__(self, queue: Queue, settings: MixedQueueSettings) -> None:
        super().__init__(queue)
        self.settings = settings

    def similarities(self, contrast: Contrast) -> Tensor:
        plain = super().similarities(contrast)  # (M, K)
        if contrast.progress < self.settings.start:
            return plain
        mixed = self._mix(contrast, plain.detach())  # (M, s + s′, D)
        return torch.cat([plain, torch.einsum("md,msd->ms", contrast.queries, mixed)], dim=1)

    @torch.no_grad()
    def _mix(self, contrast: Contrast, similarities: Tensor) -> Tensor:
        settings, rows = self.settings, self.queue.rows
        hardest = similarities.topk(settings.hardest, dim=1).indices  # (M, N)

        def draw(count: int, purpose: str) -> Tensor:
            return _uniform(contrast, count, purpose).to(rows)

        def pick(count: int, purpose: str) -> Tensor:
            places = (draw(count, purpose) * settings.hardest).long()
            return rows[hardest.gather(1, places)]  # (M, count, D)

        one, other = (pick(settings.mixes, purpose) for purpose in ("one", "other"))
        of_keys = other.lerp(one, draw(settings.mixes, "share")[..., None])

        keys = pick(settings.query_mixes, "key")
        query_share = 0.5 * draw(settings.query_mixes, "query share")[..., None]
        of_query = keys.lerp(contrast.queries[:, None, :].to(rows), query_share)
        return F.normalize(torch.cat([of_keys, of_query], dim=1), dim=2)


def _uniform(contrast: Contrast, count: int, purpose: str) -> Tensor:
    """(M, count) in [0, 1): all ranks draw for all images, each keeps the rows of its own."""
    images = len(contrast.queries) // contrast.copies * world_size()
    draws = torch.rand(
        images, contrast.copies, count, generator=contrast.generator(f"mixed_queue, {purpose}")
    )
    return own_part(draws).transpose(0, 1).flatten(0, 1)
