"""The queue of past keys (MoCo): the last `size` embeddings; the oldest are overwritten first."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.randomness import torch_generator


class Queue(nn.Module):
    """Unit rows (size, dim), random at first; `size` need not be a multiple of the batch size.

    Rows and pointer are buffers, so they are in the checkpoint. Ranks stay identical as long as
    all of them push the same rows: push what `distributed.gather` returns.
    """

    rows: Tensor
    pointer: Tensor

    def __init__(self, size: int, dim: int, seed: int = 0) -> None:
        super().__init__()
        start = torch.randn(size, dim, generator=torch_generator(seed, "queue"))
        self.register_buffer("rows", F.normalize(start, dim=1))
        self.register_buffer("pointer", torch.zeros((), dtype=torch.long))

    @torch.no_grad()
    def push(self, keys: Tensor) -> None:
        """Overwrite the oldest rows with keys (N, dim); the last `size` remain."""
        size, pointer = len(self.rows), int(self.pointer)
        skipped = max(0, len(keys) - size)
        first = pointer + skipped
        targets = torch.arange(first, first + len(keys) - skipped, device=keys.device) % size
        self.rows[targets] = keys[skipped:].detach().to(self.rows.dtype)
        self.pointer.fill_((pointer + len(keys)) % size)
