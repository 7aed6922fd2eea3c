"""The momentum copy: a network that follows another by an exponential moving average."""

from copy import deepcopy

import torch
from torch import Tensor, nn


class MomentumCopy(nn.Module):
    """A copy of a network, without gradients, that moves toward it a little each step.

    Parameters follow; buffers (the running statistics of batch norm) are the copy's own, which
    runs in train mode as the original does.
    """

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = deepcopy(network)
        self.network.requires_grad_(False)

    @torch.no_grad()
    def update(self, network: nn.Module, momentum: float) -> None:
        """copy ← momentum · copy + (1 − momentum) · network."""
        torch._foreach_lerp_(
            list(self.network.parameters()),
            [p.detach() for p in network.parameters()],
            1.0 - momentum,
        )

    @torch.no_grad()
    def forward(self, images: Tensor) -> Tensor:
        embeddings: Tensor = self.network(images)
        return embeddings
