"""Which cells of two feature maps belong together (DenseCL, Wang et al., section 3.4)."""

import torch
from torch import Tensor
from torch.nn import functional as F


@torch.no_grad()
def most_similar_cells(queries: Tensor, keys: Tensor) -> Tensor:
    """For each query cell, the index of the key cell of the same image with the largest cosine.

    queries: (N, S, C) features of cells.
    keys: (N, T, C).
    Returns (N, S), indices below T.

    >>> most_similar_cells(torch.tensor([[[0.0, 3.0]]]), torch.tensor([[[9.0, 1.0], [1.0, 1.0]]]))
    tensor([[1]])
    """
    queries, keys = F.normalize(queries, dim=2), F.normalize(keys, dim=2)
    return (queries @ keys.transpose(1, 2)).argmax(dim=2)


def take_cells(cells: Tensor, index: Tensor) -> Tensor:
    """Take cells (N, T, D) by index (N, S): (N, S, D)."""
    return cells.gather(1, index[:, :, None].expand(-1, -1, cells.shape[2]))
