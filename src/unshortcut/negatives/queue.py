"""Negatives out of a queue of past keys: MoCo's memory bank."""

from dataclasses import dataclass

from torch import Tensor

from unshortcut.distributed import gather
from unshortcut.errors import UsageError
from unshortcut.models.queue import Queue
from unshortcut.negatives.source import Contrast, NegativeSettings, NegativeSource


@dataclass(frozen=True)
class QueueSettings(NegativeSettings):
    """The last `size` keys (K in the papers)."""

    name = "queue"

    size: int = 65536

    def __post_init__(self) -> None:
        if self.size < 1:
            raise UsageError(f"the size of the queue must be at least 1, got {self.size}")

    def build(self, dim: int, seed: int) -> "QueueNegatives":
        return QueueNegatives(Queue(self.size, dim, seed))


class QueueNegatives(NegativeSource):
    """Every query against all keys in the queue; the keys of all ranks enter it afterwards."""

    def __init__(self, queue: Queue) -> None:
        super().__init__()
        self.queue = queue
        self._pending: Tensor | None = None

    def similarities(self, contrast: Contrast) -> Tensor:
        # Image by image, so that the order in the queue is that of one rank for any number.
        blocks = contrast.positives.detach().unflatten(0, (contrast.copies, -1))
        self._pending = blocks.transpose(0, 1).flatten(0, 1)
        return contrast.queries @ self.queue.rows.T

    def after_backward(self) -> None:
        # Only now: the graph of this step reads the rows, and a clone of them would cost a copy
        # of the whole queue each step.
        if self._pending is not None:
            self.queue.push(gather(self._pending))
            self._pending = None
