"""The memory bank: one embedding for every image of a data set (Wu et al., InsDis)."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.errors import UsageError
from unshortcut.randomness import torch_generator


class MemoryBank(nn.Module):
    """(images, dim) unit rows, random at first, the i-th of which follows the i-th image.

    The rows are a buffer, so they are in the checkpoint. Ranks stay identical as long as all of
    them make the same updates: update by what `distributed.gather` returns. Where the number of
    images is not known there are no rows, and nothing but loading and embedding works.
    """

    rows: Tensor | None

    def __init__(self, images: int | None, dim: int, seed: int = 0) -> None:
        super().__init__()
        rows = None
        if images is not None:
            start = torch.randn(images, dim, generator=torch_generator(seed, "bank"))
            rows = F.normalize(start, dim=1)
        self.register_buffer("rows", rows)

    def read(self, index: Tensor) -> Tensor:
        """(N, dim) rows of the images at the positions (N,)."""
        return self._rows()[index]

    def draw(self, count: int, generator: torch.Generator) -> Tensor:
        """(count,) positions drawn from all images, each as likely, with replacement."""
        rows = self._rows()
        return torch.randint(len(rows), (count,), generator=generator).to(rows.device)

    @torch.no_grad()
    def update(self, index: Tensor, embeddings: Tensor, momentum: float) -> None:
        """row ← normalize(momentum · row + (1 − momentum) · embedding) at the positions (N,).

        Of several embeddings (N, dim) for one position the last counts.
        """
        rows = self._rows()
        places, groups = index.unique(return_inverse=True)
        order = torch.arange(len(index), device=index.device)
        last = torch.zeros_like(places).scatter_reduce(0, groups, order, "amax")
        news = embeddings[last].detach().to(rows.dtype)
        rows[places] = F.normalize(momentum * rows[places] + (1 - momentum) * news, dim=1)

    def _rows(self) -> Tensor:
        if self.rows is None:
            raise UsageError(
                "a memory bank has a row for every image, and nobody said how many there are: "
                "build the method with Training(images=…)"
            )
        return self.rows
