"""The momentum copy of a network: an exponential moving average of its parameters."""

from copy import deepcopy

import torch
from torch import Tensor, nn


class MomentumCopy(nn.Module):
    """A copy of a network, without gradients, that moves a little toward it in each step.

    Only parameters follow the network. Buffers such as the running statistics of batch norm are
    the copy's own; it runs in train mode as the network does.
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
