"""The memory bank: one embedding for every image of a data set (Wu et al., InsDis)."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.errors import UsageError
from unshortcut.randomness import torch_generator


class MemoryBank(nn.Module):
    """Unit rows (num_images, dim), random at first; row i follows the embeddings of image i.

    The rows are a buffer, so they are in the checkpoint. Ranks stay identical as long as all of
    them make the same updates: pass `update` what `distributed.gather` returns. If the number of
    images is unknown there are no rows, and only loading a state works.
    """

    rows: Tensor | None

    def __init__(self, num_images: int | None, dim: int, seed: int = 0) -> None:
        super().__init__()
        rows = None
        if num_images is not None:
            start = torch.randn(num_images, dim, generator=torch_generator(seed, "bank"))
            rows = F.normalize(start, dim=1)
        self.register_buffer("rows", rows)

    def read(self, index: Tensor) -> Tensor:
        """Rows (N, dim) of the images with the indices (N,)."""
        return self._rows()[index]

    def sample(self, count: int, generator: torch.Generator) -> Tensor:
        """Sample indices (count,) of images uniformly, with replacement."""
        rows = self._rows()
        return torch.randint(len(rows), (count,), generator=generator).to(rows.device)

    @torch.no_grad()
    def update(self, index: Tensor, embeddings: Tensor, momentum: float) -> None:
        """row ← normalize(momentum · row + (1 − momentum) · embedding) at the indices (N,).

        If there are several embeddings (N, dim) for one index, the last one counts.
        """
        rows = self._rows()
        unique, groups = index.unique(return_inverse=True)
        order = torch.arange(len(index), device=index.device)
        last = torch.zeros_like(unique).scatter_reduce(0, groups, order, "amax")
        new = embeddings[last].detach().to(rows.dtype)
        rows[unique] = F.normalize(momentum * rows[unique] + (1 - momentum) * new, dim=1)

    def _rows(self) -> Tensor:
        if self.rows is None:
            raise UsageError(
                "a memory bank has a row for every image, and the number of images is unknown: "
                "build the method with a TrainingContext that states it"
            )
        return self.rows
