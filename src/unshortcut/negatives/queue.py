"""Negatives from a queue of past keys, as in MoCo."""

from torch import Tensor

from unshortcut.distributed import gather
from unshortcut.fields import PositiveInt
from unshortcut.models.queue import Queue
from unshortcut.negatives.source import ContrastStep, NegativeSettings, NegativeSource
from unshortcut.parts import settings


@settings
class QueueSettings(NegativeSettings):
    """The number of keys in the queue (K in the papers)."""

    name = "queue"

    size: PositiveInt = 65536

    def build(self, dim: int, seed: int) -> "QueueNegatives":
        return QueueNegatives(Queue(self.size, dim, seed))


class QueueNegatives(NegativeSource):
    """Compares each query with all keys in the queue, and then enqueues the keys of all ranks.

    Keys are the positives, unless the step says what to enqueue.
    """

    def __init__(self, queue: Queue) -> None:
        super().__init__()
        self.queue = queue
        self._pending: Tensor | None = None

    def similarities(self, step: ContrastStep) -> Tensor:
        if step.enqueued is not None:
            self._pending = step.enqueued.detach()
        else:
            # Ordered by image, so that the order does not depend on the number of ranks.
            blocks = step.positives.detach().unflatten(0, (step.copies, -1))
            self._pending = blocks.transpose(0, 1).flatten(0, 1)
        return step.queries @ self.queue.rows.T

    def after_backward(self) -> None:
        # Not earlier, because the backward pass reads the rows; cloning them for it would copy
        # the whole queue in each step.
        if self._pending is not None:
            self.queue.push(gather(self._pending))
            self._pending = None
