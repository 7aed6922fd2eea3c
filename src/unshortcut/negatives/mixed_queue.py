"""A queue with additional negatives mixed from its hardest: MoCHi (Kalantidis et al., 2020)."""

import torch
from torch import Tensor
from torch.nn import functional as F

from unshortcut.distributed import own_part, world_size
from unshortcut.fields import NonNegativeInt, PositiveInt, Probability
from unshortcut.models.queue import Queue
from unshortcut.negatives.queue import QueueNegatives, QueueSettings
from unshortcut.negatives.source import ContrastStep
from unshortcut.parts import settings


@settings
class MixedQueueSettings(QueueSettings):
    """The queue and the mixes per query; the default is MoCHi (512, 1024, 512) on ImageNet-1K."""

    name = "mixed_queue"

    hardest: PositiveInt = 512
    """Number of keys nearest to the query that are mixed (N in MoCHi)."""
    mixes: NonNegativeInt = 1024
    """Number of mixes of two hard keys (s)."""
    query_mixes: NonNegativeInt = 512
    """Number of mixes of a hard key with the query, which has the smaller weight (s′)."""
    start: Probability = 0.075
    """The fraction of the training before which nothing is mixed; 15 of 200 epochs by default."""

    def __post_init__(self) -> None:
        if self.hardest > self.size:
            raise ValueError(
                f"'hardest' must be at most the size of the queue, {self.size}, got {self.hardest}"
            )

    def build(self, dim: int, seed: int) -> "MixedQueueNegatives":
        return MixedQueueNegatives(Queue(self.size, dim, seed), self)


class MixedQueueNegatives(QueueNegatives):
    """Compares each query with all keys in the queue and with mixes, which take no gradient."""

    def __init__(self, queue: Queue, settings: MixedQueueSettings) -> None:
        super().__init__(queue)
        self.settings = settings

    def similarities(self, step: ContrastStep) -> Tensor:
        plain = super().similarities(step)  # (M, K)
        if step.progress < self.settings.start:
            return plain
        mixed = self._mix(step, plain.detach())  # (M, s + s′, D)
        return torch.cat([plain, torch.einsum("md,msd->ms", step.queries, mixed)], dim=1)

    @torch.no_grad()
    def _mix(self, step: ContrastStep, similarities: Tensor) -> Tensor:
        settings, rows = self.settings, self.queue.rows
        hardest = similarities.topk(settings.hardest, dim=1).indices  # (M, N)

        num_images = len(step.queries) // step.copies * world_size()

        def uniform(count: int, purpose: str) -> Tensor:
            """(M, count) in [0, 1): all ranks sample for all images, each keeps its own numbers."""
            generator = step.generator(f"mixed_queue, {purpose}")
            numbers = torch.rand(num_images, step.copies, count, generator=generator)
            return own_part(numbers).transpose(0, 1).flatten(0, 1).to(rows)

        def pick(count: int, purpose: str) -> Tensor:
            indices = (uniform(count, purpose) * settings.hardest).long()
            return rows[hardest.gather(1, indices)]  # (M, count, D)

        one, other = (pick(settings.mixes, purpose) for purpose in ("one", "other"))
        of_keys = other.lerp(one, uniform(settings.mixes, "share")[..., None])

        keys = pick(settings.query_mixes, "key")
        query_share = 0.5 * uniform(settings.query_mixes, "query share")[..., None]
        of_query = keys.lerp(step.queries[:, None, :].to(rows), query_share)
        return F.normalize(torch.cat([of_keys, of_query], dim=1), dim=2)
